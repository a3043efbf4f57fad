import { setImmediate as nextTurn } from "node:timers/promises";
import { StreamResponseSchema } from "@a2a-connect/proto";
import { create, type Message } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { eventIdHeader } from "./http.ts";
import { type EventFormat, EventWriter, keepAliveComment } from "./sse/event-writer.ts";
import { createStreamBody } from "./stream-body.ts";

const message = create(StreamResponseSchema);
const decoder = new TextDecoder();

/** A timer whose ticks the test decides. */
function manualTimer() {
  const pending = new Set<() => void>();
  return {
    pending,
    timer: (_: number, tick: () => void) => {
      pending.add(tick);
      return () => void pending.delete(tick);
    },
    tick() {
      for (const fire of [...pending]) {
        pending.delete(fire);
        fire();
      }
    },
  };
}

function open(
  messages: AsyncIterator<Message>,
  {
    signal = new AbortController().signal,
    format,
    header,
  }: Partial<{ signal: AbortSignal; format: EventFormat; header: Headers }> = {},
) {
  const { timer, tick, pending } = manualTimer();
  let events = 0;
  const counting = { event: () => `${++events}`, failure: (thrown: unknown) => `failed: ${String(thrown)}` };
  const body = createStreamBody({
    first: messages.next(),
    messages,
    format: new EventWriter(format ?? counting, header ?? new Headers()),
    signal,
    keepAlive: { chunk: keepAliveComment, everyMs: 1, timer },
  });
  return { body, tick, pending };
}

async function text(chunk: Promise<IteratorResult<Uint8Array>>): Promise<string | undefined> {
  const { done, value } = await chunk;
  return done === true ? undefined : decoder.decode(value);
}

describe("a format that fails", () => {
  const broken = new Error("this error cannot be written");
  const failing = (): never => {
    throw broken;
  };
  const silent = new AbortController().signal;

  it("breaks the body off when it cannot write the error of the stream", async () => {
    const messages = { next: () => Promise.reject(new Error("xyzzy")) };
    const format = { message: () => new Uint8Array(), end: () => undefined, failure: failing };
    const body = createStreamBody({ first: messages.next(), messages, format, signal: silent });
    await expect(body.next()).rejects.toBe(broken);
    expect(await body.next()).toEqual({ done: true, value: undefined });
  });

  it("breaks the body off when it cannot write its end, also before that is asked for", async () => {
    const messages = { next: async () => ({ done: true as const, value: undefined }) };
    const format = { message: () => new Uint8Array(), end: failing, failure: () => undefined };
    const body = createStreamBody({ first: messages.next(), messages, format, signal: silent });
    await nextTurn();
    await expect(body.next()).rejects.toBe(broken);
  });

  it("ends the body with the failure when a large message cannot be written in its turn", async () => {
    const messages = {
      next: async () => ({ done: false as const, value: message }),
      return: failing,
    };
    const pieces = { next: failing };
    const format = {
      message: () => Promise.resolve(pieces),
      end: () => undefined,
      failure: (thrown: unknown) => new TextEncoder().encode(String(thrown)),
    };
    const body = createStreamBody({ first: messages.next(), messages, format, signal: silent });
    expect(await text(body.next())).toBe(String(broken));
  });
});

/** Messages that are handed out one by one, and a count of how many were asked for. */
function source() {
  const asked: PromiseWithResolvers<IteratorResult<Message>>[] = [];
  let returned = 0;
  const messages: AsyncIterator<Message> = {
    next() {
      const answer = Promise.withResolvers<IteratorResult<Message>>();
      asked.push(answer);
      return answer.promise;
    },
    return() {
      returned += 1;
      return Promise.resolve({ done: true, value: undefined });
    },
  };
  return {
    messages,
    asked: () => asked.length,
    returned: () => returned,
    give: (index: number) => asked[index]?.resolve({ done: false, value: message }),
    fail: (index: number, error: Error) => asked[index]?.reject(error),
    end: (index: number) => asked[index]?.resolve({ done: true, value: undefined }),
  };
}

describe("a body of events", () => {
  it("asks for a message only when its reader does", async () => {
    const { messages, give, asked } = source();
    const { body } = open(messages);
    give(0);
    expect(await text(body.next())).toBe("data: 1\n\n");
    expect(asked()).toBe(1);
    const second = body.next();
    expect(asked()).toBe(2);
    give(1);
    expect(await text(second)).toBe("data: 2\n\n");
  });

  it("sends a comment for each silent interval, without asking again", async () => {
    const { messages, give, asked } = source();
    const { body, tick, pending } = open(messages);
    for (let round = 0; round < 3; round++) {
      const chunk = body.next();
      tick();
      expect(await text(chunk)).toBe(":\n\n");
    }
    give(0);
    expect(await text(body.next())).toBe("data: 1\n\n");
    expect(asked()).toBe(1);
    expect(pending.size).toBe(0);
  });

  it("keeps a message that comes while nobody reads", async () => {
    const { messages, give } = source();
    const { body, tick } = open(messages);
    const comment = body.next();
    tick();
    await comment;
    give(0);
    await Promise.resolve();
    expect(await text(body.next())).toBe("data: 1\n\n");
  });

  it("numbers events, but not comments and failures", async () => {
    const { messages, give, fail } = source();
    const { body, tick } = open(messages, { header: new Headers({ [eventIdHeader]: "41" }) });
    give(0);
    expect(await text(body.next())).toBe("id: 41\ndata: 1\n\n");
    const comment = body.next();
    tick();
    expect(await text(comment)).toBe(":\n\n");
    give(1);
    expect(await text(body.next())).toBe("id: 42\ndata: 2\n\n");
    const failure = body.next();
    fail(2, new Error("x"));
    expect(await text(failure)).toBe("data: failed: Error: x\n\n");
    expect(await text(body.next())).toBeUndefined();
  });

  it("ends when the messages do, for good", async () => {
    const { messages, end, returned } = source();
    const { body, pending } = open(messages);
    const last = body.next();
    end(0);
    expect(await text(last)).toBeUndefined();
    expect(await text(body.next())).toBeUndefined();
    expect(pending.size).toBe(0);
    expect(returned()).toBe(0);
  });

  it("ends with a failure event when an event cannot be written, and lets go of the messages", async () => {
    const { messages, give, returned } = source();
    const failing = () => {
      throw new Error("too deep");
    };
    const { body } = open(messages, { format: { event: failing, failure: () => "failed" } });
    give(0);
    expect(await text(body.next())).toBe("data: failed\n\n");
    expect(await text(body.next())).toBeUndefined();
    expect(returned()).toBe(1);
  });

  for (const way of ["its reader returns", "the caller goes away"]) {
    it(`ends at once when ${way}, although the messages are silent`, async () => {
      const { messages, returned, fail } = source();
      const call = new AbortController();
      const { body, pending } = open(messages, { signal: call.signal });
      const waiting = body.next();
      if (way === "its reader returns") {
        await body.return?.();
      } else {
        call.abort();
      }
      expect(await text(waiting)).toBeUndefined();
      expect(await text(body.next())).toBeUndefined();
      expect(returned()).toBe(1);
      expect(pending.size).toBe(0);
      fail(0, new Error("nobody hears this"));
    });
  }

  it("is over before it began when the caller is already gone", async () => {
    const { messages, returned } = source();
    const { body } = open(messages, { signal: AbortSignal.abort() });
    expect(await text(body.next())).toBeUndefined();
    expect(returned()).toBe(1);
  });
});
