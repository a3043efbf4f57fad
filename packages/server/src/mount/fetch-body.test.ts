import { setImmediate as nextTurn } from "node:timers/promises";
import type { HttpHandler, HttpRequest, HttpResponse } from "@a2a-connect/bindings";
import { findA2AError } from "@a2a-connect/core";
import { Code } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { collectGarbage } from "../../test-support/collect-garbage.ts";
import { defineAgent } from "../agent/agent-definition.ts";
import { createAgentServer } from "../agent-server.ts";
import { type FetchHandler, type FetchHandlerOptions, toFetchHandler } from "./fetch-handler.ts";

const alice = "192.0.2.1";
const bob = "192.0.2.2";
const largeBytes = 100_000;

it("makes a message of one large body of a caller at a time, of all mounts", async () => {
  const now: (string | undefined)[] = [];
  let [most, hasTwoOfOne] = [0, false];
  const parse: HttpHandler = async (request) => {
    await askTurn(request);
    now.push(request.callerNetwork);
    hasTwoOfOne ||= new Set(now).size < now.length;
    most = Math.max(most, now.length);
    await nextTurns(20);
    now.splice(now.indexOf(request.callerNetwork), 1);
    await request.body.release?.();
    return { status: 204 };
  };
  const mounts = [mount(parse), mount(parse)] as const;
  const callers = [alice, alice, alice, alice, bob];
  await Promise.all(callers.map((caller, at) => post(mounts[at % 2 === 0 ? 0 : 1], { caller })));
  expect([most, hasTwoOfOne]).toEqual([2, false]);
});

describe("the turn in which a message is made of a large body is over", () => {
  it("when the message was made, before its call has ended", async () => {
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const handle = mount(async (request) => {
      await askTurn(request);
      await request.body.release?.();
      await ended;
      return { status: 204 };
    });
    const call = post(handle);
    expect(await isNextTurnFree()).toBe(true);
    end();
    await call;
  });

  it("when its call has failed", async () => {
    const handle = mount(async (request) => {
      await askTurn(request);
      throw new Error("a defect");
    });
    expect((await post(handle)).status).toBe(500);
    expect(await isNextTurnFree()).toBe(true);
  });

  it("when its call was refused with an answer that is not read", async () => {
    const answer = async function* (): AsyncGenerator<Uint8Array> {
      for (;;) yield new Uint8Array(10);
    };
    const handle = mount(async (request) => {
      await askTurn(request);
      return { status: 400, body: answer() };
    });
    const response = await post(handle);
    expect(await isNextTurnFree()).toBe(true);
    await response.body?.cancel();
  });

  it("when its caller has gone, and what is made of it has ended", async () => {
    const { promise: parsed, resolve: end } = Promise.withResolvers<void>();
    const caller = new AbortController();
    const call = post(createHolder(parsed), { signal: caller.signal });
    await nextTurns(5);
    caller.abort();
    expect(await isNextTurnFree()).toBe(false);
    end();
    await call;
    expect(await isNextTurnFree()).toBe(true);
  });

  it.each([
    ["is no JSON", "/rpc", `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":[${"0,".repeat(50_000)}`],
    ["has too many values", "/rpc", `{"params":[${"0,".repeat(300_000)}0]}`],
    [
      "is of an unknown method",
      "/rpc",
      JSON.stringify({ jsonrpc: "2.0", id: 1, method: "x", params: padding() }),
    ],
    ["is no message of its type", "/rest/message:send", JSON.stringify({ message: [padding()] })],
  ])("when the body %s", async (_, path, body) => {
    const agent = defineAgent({ card: { name: "Echo" }, execute: async function* () {} });
    const handle = toFetchHandler(createAgentServer({ agent, log: () => {} }), { open: true });
    const response = await post(handle, { path, body });
    expect(await response.text()).toContain("error");
    expect(await isNextTurnFree()).toBe(true);
  });
});

it("counts what small bodies were decompressed to, until messages were made of them", async () => {
  const { promise: parsed, resolve: end } = Promise.withResolvers<void>();
  const refusals: unknown[] = [];
  let waiting = 0;
  const smallBytes = 64 * 1024;
  const handle = mount(
    async ({ body, callerNetwork }) => {
      try {
        waiting += 1;
        await body.turnBeforeMessage?.(smallBytes, callerNetwork, smallBytes);
        await parsed;
      } catch (refusal) {
        waiting -= 1;
        refusals.push(findA2AError(refusal)?.reason);
      }
      return { status: 204 };
    },
    { maxTotalBodyBytes: 16 * smallBytes },
  );
  const calls = Array.from({ length: 40 }, () => post(handle));
  await nextTurns(20);
  expect([waiting, refusals]).toEqual([14, Array(26).fill("CAPACITY")]);
  end();
  await Promise.all(calls);
  await post(handle);
  expect(refusals).toHaveLength(26);
});

describe("a large body that waits for its turn", () => {
  it("fails when its caller goes, and takes none later", async () => {
    const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const call = post(createHolder(first.promise));
    const caller = new AbortController();
    const failures: unknown[] = [];
    const handle = mount(async (request) => {
      await askTurn(request).catch((failure) => failures.push(failure));
      await second.promise;
      return { status: 204 };
    });
    const left = post(handle, { signal: caller.signal });
    await nextTurns(5);
    caller.abort();
    await nextTurns(5);
    expect(failures).toEqual([expect.objectContaining({ code: Code.Canceled })]);
    first.resolve();
    await call;
    expect(await isNextTurnFree()).toBe(true);
    second.resolve();
    await left;
  });

  it("is not kept by the line when its caller has gone", async () => {
    const { promise: parsed, resolve: end } = Promise.withResolvers<void>();
    const call = post(createHolder(parsed));
    const kept: WeakRef<object>[] = [];
    const handle = mount(async (request) => {
      kept.push(new WeakRef(request.body));
      await askTurn(request);
      return { status: 204 };
    });
    const leaveOften = async () => {
      const caller = new AbortController();
      const calls = Array.from({ length: 20 }, () => post(handle, { signal: caller.signal }));
      await nextTurns(20);
      caller.abort();
      await Promise.all(calls);
    };
    await leaveOften();
    const isGone = () => kept.every((each) => each.deref() === undefined);
    expect([kept.length, await collectGarbage(isGone)]).toEqual([20, true]);
    end();
    await call;
  });

  it("takes none after its call was answered", async () => {
    const { promise: parsed, resolve: end } = Promise.withResolvers<void>();
    const call = post(createHolder(parsed));
    const handle = mount(async (request) => {
      void askTurn(request);
      return { status: 204 };
    });
    await post(handle);
    end();
    await call;
    expect(await isNextTurnFree()).toBe(true);
  });
});

function padding(): readonly string[] {
  return ["x".repeat(largeBytes)];
}

async function nextTurns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await nextTurn();
}

function mount(handle: HttpHandler, options?: FetchHandlerOptions): FetchHandler {
  const stopped = new AbortController().signal;
  return toFetchHandler({ isGated: true, log: () => {}, start: async () => {}, stopped, handle }, options);
}

/** A mount whose calls have the turn of a large body until then. */
function createHolder(parsed: Promise<void>): FetchHandler {
  return mount(async (request) => {
    await askTurn(request);
    await parsed;
    return { status: 204 };
  });
}

interface Post {
  readonly caller?: string;
  readonly path?: string;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

function post(
  handle: FetchHandler,
  { caller = alice, path = "/", body = "x", signal }: Post = {},
): Promise<Response> {
  const headers = { "content-type": "application/json", "a2a-version": "1.0" };
  const request = new Request(`http://localhost${path}`, {
    method: "POST",
    headers,
    body,
    signal: signal ?? null,
  });
  return handle(request, { remoteAddress: caller });
}

/** As a wire does for a large body. */
async function askTurn({ body, callerNetwork }: HttpRequest): Promise<void> {
  await body.turnBeforeMessage?.(largeBytes, callerNetwork);
}

/** Whether the next large body waits for nothing but the event loop. */
async function isNextTurnFree(): Promise<boolean> {
  let isFree = false;
  const answer: HttpResponse = { status: 204 };
  const handle = mount(async (request) => {
    await askTurn(request);
    isFree = true;
    return answer;
  });
  void post(handle, { caller: alice });
  await nextTurns(20);
  return isFree;
}
