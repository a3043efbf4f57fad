import { setImmediate } from "node:timers";
import type { HttpRequest } from "@a2a-connect/bindings";
import { createTurnCount } from "@a2a-connect/testing";
import { describe, expect, it, vi } from "vitest";
import { defineAgent } from "../agent/agent-definition.ts";
import { createAgentServer } from "../agent-server.ts";
import type { AgentServerOptions } from "../agent-server-options.ts";
import type { LogRecord } from "../engine/engine-context.ts";
import { createMemoryTaskStore } from "../store/memory-task-store.ts";
import { type FetchHandlerOptions, toFetchHandler } from "./fetch-handler.ts";

const agent = defineAgent({
  card: { name: "Echo" },
  async *execute(turn) {
    if (turn.text === "store") return yield turn.artifact({ text: "x".repeat(300_000) });
    if (turn.text !== "wait") return yield turn.reply(turn.text);
    yield turn.working("waiting");
    await new Promise((resolve) => turn.signal.addEventListener("abort", resolve));
  },
});
const here = { remoteAddress: "127.0.0.1" };
const version = { "a2a-version": "1.0" };
const base = "http://localhost:3000/a2a";

function mount(options: FetchHandlerOptions = {}, given: Partial<AgentServerOptions> = {}) {
  const log: LogRecord[] = [];
  const server = createAgentServer({ agent, log: (record) => log.push(record), ...given });
  return { server, log, handle: toFetchHandler(server, { path: "/a2a", ...options }) };
}

function messageOf(text: string, method = "SendMessage", init: RequestInit = {}): Request {
  const message = { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text }] };
  return new Request(`${base}/rpc`, {
    method: "POST",
    headers: { "content-type": "application/json", ...version },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { message } }),
    ...init,
  });
}

async function* inPieces(begin: () => void, end: () => void): AsyncGenerator<Uint8Array> {
  begin();
  try {
    yield new Uint8Array(200_000);
    yield new Uint8Array(100_000);
  } finally {
    end();
  }
}

const card = (headers: HeadersInit = {}): Request =>
  new Request(`${base}/.well-known/agent-card.json`, { headers });

async function nextTurns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise<void>((resolve) => setImmediate(resolve));
}

describe("toFetchHandler", () => {
  it("starts its server with the next request when the store could not be read", async () => {
    const store = createMemoryTaskStore();
    const { unfinished } = store;
    const { handle } = mount({}, { store });
    store.unfinished = () => Promise.reject(new Error("the disk is busy"));
    expect((await handle(messageOf("hi"), here)).status).toBe(500);
    store.unfinished = unfinished;
    expect((await (await handle(messageOf("hi"), here)).json()).result.message.parts).toEqual([
      { text: "hi" },
    ]);
  });

  it("names the mount in the card, without gRPC", async () => {
    const { handle } = mount();
    const { supportedInterfaces } = await (await handle(card(), here)).json();
    const current = supportedInterfaces.filter(
      ({ protocolVersion }: { protocolVersion: string }) => protocolVersion === "1.0",
    );
    expect(current.map(({ url }: { url: string }) => url)).toEqual([
      `${base}/rpc`,
      `${base}/rest`,
      base,
      base,
    ]);
  });

  it("answers below its path, and where a framework has removed that", async () => {
    const { handle } = mount();
    for (const url of [`${base}/readyz`, "http://localhost/readyz", base]) {
      expect((await handle(new Request(url), here)).status).toBe(200);
    }
    expect((await handle(new Request(`${base}x/readyz`), here)).status).toBe(404);
  });

  it.each([
    ["no address", card(), {}],
    ["an address of another machine", card(), { remoteAddress: "192.0.2.1" }],
    ["another host", card({ host: "example.org" }), here],
    ["a forwarding field", card({ forwarded: "for=127.0.0.1" }), here],
  ])("without a gate, refuses a request with %s", async (_, request, connection) => {
    const { handle, log } = mount();
    const response = await handle(request, connection);
    expect(response.status).toBe(403);
    expect((await response.json()).error.message).toContain("open: true");
    expect(log).toHaveLength(1);
  });

  it.each(["127.0.0.1", "::1", "::ffff:127.0.0.1"])("knows %s as this machine", async (remoteAddress) => {
    expect((await mount().handle(card(), { remoteAddress })).status).toBe(200);
  });

  it("answers everyone when it is open", async () => {
    expect((await mount({ open: true }).handle(card({ host: "example.org" }))).status).toBe(200);
  });

  it("answers HEAD without a body", async () => {
    const response = await mount().handle(new Request(card(), { method: "HEAD" }), here);
    expect([response.status, response.body]).toEqual([200, null]);
    expect(Number(response.headers.get("content-length"))).toBeGreaterThan(100);
  });

  it("sends a large answer in pieces", async () => {
    const text = "x".repeat(300_000);
    const response = await mount().handle(messageOf(text), here);
    expect((await response.json()).result.message.parts[0].text).toBe(text);
  });

  it("sends a long document in pieces, with its length", async () => {
    const long = { ...agent, card: { name: "Echo", description: "x".repeat(200_000) } };
    const response = await mount({}, { agent: long }).handle(card(), here);
    const pieces: number[] = [];
    for await (const piece of response.body ?? []) pieces.push(piece.length);
    expect(pieces.length).toBeGreaterThan(3);
    expect(response.headers.get("content-length")).toBe(String(pieces.reduce((sum, each) => sum + each)));
  });

  it("refuses a body that is too large, without reading all of it", async () => {
    let pulls = 0;
    const body = new ReadableStream({
      pull(controller) {
        pulls += 1;
        controller.enqueue(new Uint8Array(1_000));
      },
    });
    const { handle } = mount({}, { wires: { maxBodyBytes: 10_000 } });
    const init = { body, duplex: "half" } as RequestInit; // Node wants it, and its types do not know it
    expect((await handle(messageOf("", "SendMessage", init), here)).status).toBe(413);
    expect(pulls).toBeLessThan(20);
  });

  it("says in the log that a body is gone", async () => {
    const { handle, log } = mount();
    const request = messageOf("hello");
    await request.text();
    await handle(request, here);
    expect(log).toEqual([
      expect.objectContaining({
        error: expect.objectContaining({ message: expect.stringContaining("body") }),
      }),
    ]);
  });

  it.each(["cancels the stream", "aborts its request"])("ends a call whose caller %s", async (way) => {
    const { promise: gone, resolve } = Promise.withResolvers<void>();
    const { handle } = mount(
      {},
      {
        wires: {
          interceptors: [
            (next) => (call) => {
              call.signal.addEventListener("abort", () => resolve());
              return next(call);
            },
          ],
        },
      },
    );
    const caller = new AbortController();
    const request = messageOf("wait", "SendStreamingMessage", { signal: caller.signal });
    const response = await handle(request, here);
    if (way === "cancels the stream") await response.body?.cancel();
    else caller.abort();
    await gone;
  });

  it("ends streams when the server has stopped", async () => {
    const { handle, server } = mount();
    const response = await handle(messageOf("wait", "SendStreamingMessage"), here);
    await server.stop(0);
    expect(await response.text()).toContain("data:");
  });

  it("refuses bodies while unfinished ones take the memory that there is", async () => {
    const { handle } = mount({ maxTotalBodyBytes: 100_000 });
    let unfinished: ReadableStreamDefaultController<Uint8Array> | undefined;
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        unfinished = controller;
        controller.enqueue(new TextEncoder().encode(" ".repeat(50_000)));
      },
    });
    const held = handle(messageOf("", "SendMessage", { body, duplex: "half" } as RequestInit), here);
    await nextTurns(10); // it is read
    const send = async (text: string, remoteAddress: string): Promise<unknown> => {
      const { error, result } = await (await handle(messageOf(text), { remoteAddress })).json();
      return error?.data[0].reason ?? result.message.parts[0].text;
    };
    expect(await send("x".repeat(60_000), "127.0.0.1")).toBe("CAPACITY");
    expect(await send("x".repeat(60_000), "127.0.0.2")).toBe("CAPACITY");
    expect(await send("short", "127.0.0.1")).toBe("short");
    unfinished?.close();
    await held;
    expect(await send("x".repeat(60_000), "127.0.0.1")).toHaveLength(60_000);
  });

  it("shares the memory of bodies with mounts of the same limit", async () => {
    const [first, second] = [mount({ maxTotalBodyBytes: 100_000 }), mount({ maxTotalBodyBytes: 100_000 })];
    const other = mount({ maxTotalBodyBytes: 100_001 });
    let unfinished: ReadableStreamDefaultController<Uint8Array> | undefined;
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        unfinished = controller;
        controller.enqueue(new TextEncoder().encode(" ".repeat(50_000)));
      },
    });
    const held = first.handle(messageOf("", "SendMessage", { body, duplex: "half" } as RequestInit), here);
    await nextTurns(10); // it is read
    const send = async ({ handle }: typeof first): Promise<unknown> => {
      const { error, result } = await (await handle(messageOf("x".repeat(60_000)), here)).json();
      return error?.data[0].reason ?? result.message.parts[0].text.length;
    };
    expect([await send(second), await send(other)]).toEqual(["CAPACITY", 60_000]);
    unfinished?.close();
    await held;
    expect(await send(second)).toBe(60_000);
  });

  it("shares the memory of unread answers with mounts of the same limit, until its server has stopped", async () => {
    const [first, second] = [mount({ maxUnreadBytes: 500_000 }), mount({ maxUnreadBytes: 500_000 })];
    const other = mount({ maxUnreadBytes: 500_001 });
    const ask = ({ handle }: typeof first): Promise<Response> => handle(messageOf("x".repeat(300_000)), here);
    const reasonOf = async (response: Response): Promise<unknown> =>
      (await response.json()).error?.data[0].reason;
    await ask(first); // and not read
    expect([await reasonOf(await ask(second)), await reasonOf(await ask(other))]).toEqual([
      "CAPACITY",
      undefined,
    ]);
    await first.server.stop(0);
    await expect.poll(async () => reasonOf(await ask(second)), { timeout: 10_000 }).toBe(undefined);
  });

  it.each([
    ["before it is ready, whole", "ready", () => new Uint8Array(300_000)],
    ["before it is ready, in pieces", "ready", inPieces],
    ["before its first piece is made", "first piece", inPieces],
    ["before it is read, whole", "read", () => new Uint8Array(300_000)],
    ["before it is read, in pieces", "read", inPieces],
  ] as const)(
    "counts no answer whose caller goes %s, where the runtime drops it",
    async (_, when, makeBody) => {
      const left = new AbortController();
      let begun = 0;
      let ended = 0;
      const goes = (moment: typeof when): void => {
        if (moment === when) left.abort();
      };
      const server = {
        isGated: true,
        log: () => {},
        start: async () => {},
        stopped: new AbortController().signal,
        async handle(request: HttpRequest) {
          request.countUnread?.(300_000);
          goes("ready");
          const begin = (): void => {
            begun += 1;
            goes("first piece");
          };
          return { status: 200, body: makeBody(begin, () => (ended += 1)) };
        },
      };
      const handle = toFetchHandler(server, { maxUnreadBytes: 500_002 });
      await handle(new Request(base, { signal: left.signal }), here);
      goes("read");
      const unread = await handle(new Request(base), here);
      expect([unread.status, (await handle(new Request(base), here)).status]).toEqual([200, 500]);
      await unread.body?.cancel();
      expect(ended).toBe(begun);
    },
  );

  it("tells callers that are there why their calls end with the server", async () => {
    const stopped = new AbortController();
    const server = {
      isGated: true,
      log: () => {},
      start: async () => {},
      stopped: stopped.signal,
      async handle({ signal }: HttpRequest) {
        stopped.abort();
        await expect.poll(() => signal.aborted).toBe(true);
        return { status: 503, body: "it stops" };
      },
    };
    const answer = await toFetchHandler(server)(new Request(base), here);
    expect([answer.status, await answer.text()]).toEqual([503, "it stops"]);
  });

  it("lets few calls in a turn of the event loop, of all mounts, begin, go on and make pieces of answers", async () => {
    const [began, went, made] = [createTurnCount(), createTurnCount(), createTurnCount()];
    const pieces = async function* (): AsyncGenerator<Uint8Array> {
      for (let at = 0; at < 5; at += 1) {
        made.count();
        yield new Uint8Array(10);
      }
    };
    const server = {
      isGated: true,
      log: () => {},
      start: async () => {},
      stopped: new AbortController().signal,
      async handle(request: HttpRequest) {
        began.count();
        await request.body.bytes?.(1_000);
        await request.turnToGoOn?.();
        went.count();
        return { status: 200, body: pieces() };
      },
    };
    const mounts = [toFetchHandler(server), toFetchHandler(server)] as const;
    const calls = Array.from({ length: 300 }, async (_, at) =>
      (await mounts[at % 2 === 0 ? 0 : 1](messageOf("x"), here)).bytes(),
    );
    expect((await Promise.all(calls)).map(({ length }) => length)).toEqual(calls.map(() => 50));
    expect([began.total, went.total, made.total]).toEqual([300, 300, 1_500]);
    // Twice as many as in one turn, because both may count from the middle of one.
    expect(Math.max(began.mostInATurn, went.mostInATurn)).toBeLessThanOrEqual(16);
    expect(made.mostInATurn).toBeLessThanOrEqual(2 * (64 + 8)); // with the first of each answer
  });

  it("lets few calls in a turn of the event loop go on that have waited for the start of their server", async () => {
    const { promise: started, resolve: begin } = Promise.withResolvers<void>();
    const went = createTurnCount();
    let waiting = 0;
    const handle = toFetchHandler({
      isGated: true,
      log: () => {},
      start() {
        waiting += 1;
        return started;
      },
      stopped: new AbortController().signal,
      async handle() {
        went.count();
        return { status: 204 };
      },
    });
    const calls = Array.from({ length: 300 }, () => handle(new Request(base), here));
    await expect.poll(() => waiting).toBe(300);
    begin();
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual(calls.map(() => 204));
    expect(went.total).toBe(300);
    expect(went.mostInATurn).toBeLessThanOrEqual(16);
  });

  it("ends few calls in a turn of the event loop whose callers have left together", async () => {
    const ended = createTurnCount();
    let asked = 0;
    const handle = toFetchHandler({
      isGated: true,
      log: () => {},
      start: async () => {},
      stopped: new AbortController().signal,
      async handle({ signal }) {
        asked += 1;
        await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
        ended.count();
        return { status: 204 };
      },
    });
    const callers = new AbortController();
    const calls = Array.from({ length: 300 }, () =>
      handle(new Request(base, { signal: callers.signal }), here),
    );
    await expect.poll(() => asked).toBe(300);
    callers.abort();
    await Promise.all(calls);
    expect(ended.total).toBe(300);
    expect(ended.mostInATurn).toBeLessThanOrEqual(128);
  });

  it("lets go of streams whose callers leave together, also when each has a piece just then", async () => {
    const log = vi.fn();
    let letGo = 0;
    let nextPiece = Promise.withResolvers<void>();
    const pieces = async function* (): AsyncGenerator<Uint8Array> {
      try {
        for (;;) {
          yield new Uint8Array(1);
          await nextPiece.promise;
        }
      } finally {
        letGo += 1;
      }
    };
    const handle = toFetchHandler({
      isGated: true,
      log,
      start: async () => {},
      stopped: new AbortController().signal,
      handle: async () => ({ status: 200, body: pieces() }),
    });
    const readers = await Promise.all(
      Array.from({ length: 300 }, async () => (await handle(new Request(base), here)).body?.getReader()),
    );
    await Promise.all(readers.map((reader) => reader?.read()));
    for (const reader of readers) void reader?.read();
    await nextTurns(10);
    const all = Promise.all(readers.map((reader) => reader?.cancel()));
    nextPiece.resolve();
    nextPiece = Promise.withResolvers();
    await all;
    await nextTurns(1);
    expect([letGo, log.mock.calls.length]).toEqual([300, 0]);
  });

  it("lets go of calls whose callers leave before its server has started", async () => {
    const log = vi.fn();
    const start = vi.fn(() => new Promise<void>(() => {}));
    const handle = toFetchHandler({
      isGated: true,
      log,
      start,
      stopped: new AbortController().signal,
      handle: async () => ({ status: 204 }),
    });
    const caller = new AbortController();
    const answer = handle(new Request(base, { signal: caller.signal }), here);
    await vi.waitFor(() => expect(start).toHaveBeenCalled());
    caller.abort();
    expect((await answer).status).toBe(500); // its caller reads no answer
    expect(log).not.toHaveBeenCalled();
  });

  it("refuses calls beyond those whose answers may wait to begin, of one address and of all mounts with the same limit", async () => {
    const { promise: opened, resolve: open } = Promise.withResolvers<void>();
    const server = {
      isGated: true,
      log: () => {},
      start: async () => {},
      stopped: new AbortController().signal,
      async handle({ url }: HttpRequest) {
        if (!url.endsWith("/stream")) await opened;
        return {
          status: 200,
          body: inPieces(
            () => {},
            () => {},
          ),
        };
      },
    };
    const mounts = [
      toFetchHandler(server, { maxCalls: 80 }),
      toFetchHandler(server, { maxCalls: 80 }),
    ] as const;
    const call = (at: 0 | 1, remoteAddress: string, init: RequestInit = {}, url = base): Promise<Response> =>
      mounts[at](new Request(url, init), { remoteAddress });
    const calls = (count: number, at: 0 | 1, init?: RequestInit): Promise<Response>[] =>
      Array.from({ length: count }, () => call(at, "192.0.2.1", init));
    const statusesOf = async (responses: Promise<Response>[]): Promise<number[]> => {
      const all = await Promise.all(responses);
      await Promise.all(all.map(({ body }) => body?.cancel()));
      return all.map(({ status }) => status);
    };
    const streams = [];
    for (let at = 0; at < 80; at += 1) {
      streams.push(await mounts[0](new Request(`${base}/stream`), { remoteAddress: "192.0.2.1" }));
    }
    const wait = [
      ...calls(40, 0),
      ...calls(20, 1),
      ...calls(1, 1, { headers: { "x-large": "x".repeat(20_000) } }), // 5 places, as the next one
      call(1, "192.0.2.1", {}, `${base}?${"x".repeat(20_000)}`),
    ];
    const refused = await Promise.all([
      call(0, "192.0.2.1"),
      call(1, "192.0.2.1"),
      call(1, "192.0.2.1", { method: "HEAD" }),
    ]);
    expect(refused.map(({ status }) => status)).toEqual([429, 429, 429]);
    expect(await Promise.all(refused.map((response) => response.text()))).toEqual([
      expect.stringContaining("RESOURCE_EXHAUSTED"),
      expect.stringContaining("RESOURCE_EXHAUSTED"),
      "",
    ]);
    wait.push(call(1, "192.0.2.2"));
    open();
    expect(await statusesOf(wait)).toEqual(wait.map(() => 200));
    expect(await statusesOf(calls(70, 0))).toEqual(Array(70).fill(200)); // all places are free again
    for (const { body } of streams) await body?.cancel();
  });

  describe("refuses answers while unread ones take the memory that there is:", () => {
    const key = { "idempotency-key": "0123456789abcdef" };
    const text = "x".repeat(300_000);
    type Call = (method: string, params: object) => Promise<Response>;

    it.each<readonly [string, number, (call: Call, ended: string, working: string) => Promise<Response>]>([
      ["a task", 500_000, (call, id) => call("GetTask", { id })],
      ["a task at work that has many small values", 1_500_000, (call, _, id) => call("GetTask", { id })],
      ["push configs", 500_000, (call, taskId) => call("ListTaskPushNotificationConfigs", { taskId })],
      [
        "a direct Message, also one that is kept for a key",
        500_000,
        (call) => call("SendMessage", { message: { messageId: "1", role: "ROLE_USER", parts: [{ text }] } }),
      ],
    ])("%s", async (_, maxUnreadBytes, ask) => {
      const push = { fetch: async () => new Response() };
      const { handle } = mount({ maxUnreadBytes }, { push });
      const call: Call = (method, params) =>
        handle(
          new Request(`${base}/rpc`, {
            method: "POST",
            headers: { "content-type": "application/json", ...version, ...key },
            body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
          }),
          here,
        );
      const { task } = (await (await handle(messageOf("store"), here)).json()).result;
      for (let id = 0; id < 20; id += 1) {
        const config = {
          taskId: task.id,
          id: `${id}`,
          url: "https://example.com",
          token: "t".repeat(15_000),
        };
        await (await call("CreateTaskPushNotificationConfig", config)).text();
      }
      const parts = [{ text: "wait" }, { data: Array.from({ length: 8_000 }, () => 0) }];
      const message = { messageId: "2", role: "ROLE_USER", parts };
      const params = { message, configuration: { returnImmediately: true } };
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params });
      const { task: working } = (
        await (await handle(messageOf("wait", "SendMessage", { body }), here)).json()
      ).result;
      const unread = await ask(call, task.id, working.id);
      expect((await (await ask(call, task.id, working.id)).json()).error.data[0].reason).toBe("CAPACITY");
      await unread.text();
      expect((await (await ask(call, task.id, working.id)).json()).result).toBeDefined();
    });

    it.each(["SendMessage", "SendStreamingMessage"])(
      "not that of %s which leaves a long history out",
      async (method) => {
        const { handle } = mount({ maxUnreadBytes: 500_000 });
        const send = (configuration: object, by = method) => {
          const parts = [{ text: "wait" }, { data: Array(2_500).fill(0) }]; // 128 bytes each
          const message = { messageId: crypto.randomUUID(), role: "ROLE_USER", parts };
          const params = { message, configuration: { returnImmediately: true, ...configuration } };
          const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: by, params });
          return handle(messageOf("", by, { body }), here);
        };
        const unread = await send({}, "SendStreamingMessage");
        const reader = (await send({ historyLength: 0 })).body
          ?.pipeThrough(new TextDecoderStream())
          .getReader();
        expect((await reader?.read())?.value).toContain('"result"');
        expect(await (await send({})).text()).toContain('"CAPACITY"');
        await Promise.all([unread.body?.cancel(), reader?.cancel()]);
      },
    );
  });
});
