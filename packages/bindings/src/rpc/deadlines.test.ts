import { GetTaskRequestSchema, SubscribeToTaskRequestSchema } from "@a2a-connect/proto";
import { create } from "@bufbuild/protobuf";
import { Code, type HandlerContext } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { createFakeService, fakeEvents, fakeTask } from "../../test-support/fake-service.ts";
import { createManualTimer } from "../../test-support/manual-timer.ts";
import { chunksOf, readRaw, rpcWires, sendRaw, timeoutHeader } from "../../test-support/raw-rpc.ts";
import { createRpcHandlers } from "./handlers.ts";

const getTask = { method: "getTask", request: create(GetTaskRequestSchema, { id: "t" }) } as const;
const subscribe = {
  method: "subscribeToTask",
  request: create(SubscribeToTaskRequestSchema, { id: "t" }),
} as const;

/** Rejects with its reason when the signal aborts, as an operation that waits does. */
function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true }); // a ConnectError
  });
}

/** A service whose calls wait until their signal aborts, and the contexts that they were given. */
function createWaitingService() {
  const contexts: HandlerContext[] = [];
  const started = Promise.withResolvers<void>();
  const wait = (context: HandlerContext): Promise<never> => {
    contexts.push(context);
    const aborted = untilAborted(context.signal);
    started.resolve();
    return aborted;
  };
  const service = createFakeService({
    getTask: (_, context) => wait(context),
    async *subscribeToTask(_, context) {
      yield* fakeEvents().slice(0, 1);
      await wait(context);
    },
  });
  return { service, contexts, started: started.promise };
}

for (const wire of rpcWires) {
  describe(`a deadline over ${wire}`, () => {
    it("ends a unary call with DeadlineExceeded", async () => {
      const { service, contexts, started } = createWaitingService();
      const clock = createManualTimer();
      const handlers = createRpcHandlers(service, { timer: clock.timer });
      const call = { wire, ...getTask, header: timeoutHeader(wire, "1500") };
      const pending = sendRaw(handlers, call);
      await started;
      expect(contexts[0]?.timeoutMs()).toBeGreaterThan(0);
      expect(contexts[0]?.timeoutMs()).toBeLessThanOrEqual(1500);
      expect(clock.pending()).toEqual([1500]);
      clock.fire(1500);
      const response = await pending;
      expect((await readRaw(call, response)).error).toMatchObject({ code: Code.DeadlineExceeded });
      expect(response.status).toBe(wire === "connect" ? 504 : 200);
      expect(contexts[0]?.signal.reason).toMatchObject({ code: Code.DeadlineExceeded });
    });

    it("ends a stream with DeadlineExceeded, after what it has delivered", async () => {
      const { service, started } = createWaitingService();
      const clock = createManualTimer();
      const handlers = createRpcHandlers(service, { timer: clock.timer });
      const call = { wire, ...subscribe, header: timeoutHeader(wire, "250") };
      const reading = readRaw(call, await sendRaw(handlers, call));
      await started;
      clock.fire(250);
      const { messages, error } = await reading;
      expect(messages).toHaveLength(1);
      expect(error).toMatchObject({ code: Code.DeadlineExceeded });
    });

    it("ends a stream whose implementation does not look at its signal", async () => {
      const service = createFakeService({
        async *subscribeToTask() {
          yield* fakeEvents().slice(0, 1);
          await new Promise(() => {});
        },
      });
      const clock = createManualTimer();
      const call = { wire, ...subscribe, header: timeoutHeader(wire, "250") };
      const response = await sendRaw(createRpcHandlers(service, { timer: clock.timer }), call);
      const reading = readRaw(call, response);
      clock.fire(250);
      expect((await reading).error).toMatchObject({ code: Code.DeadlineExceeded });
    });

    it("costs no timer any more when the call is over", async () => {
      const clock = createManualTimer();
      const handlers = createRpcHandlers(createFakeService(), { timer: clock.timer });
      for (const operation of [getTask, subscribe]) {
        const call = { wire, ...operation, header: timeoutHeader(wire, "9000") };
        expect((await readRaw(call, await sendRaw(handlers, call))).error).toBeUndefined();
        expect(clock.pending()).toEqual([]);
      }
      const failing = createRpcHandlers(createFakeService(), { timer: clock.timer });
      const call = { wire, ...getTask, request: create(GetTaskRequestSchema, { id: "missing" }) };
      const timed = { ...call, header: timeoutHeader(wire, "9000") };
      expect((await readRaw(timed, await sendRaw(failing, timed))).error?.code).toBe(Code.NotFound);
      expect(clock.pending()).toEqual([]);
      const left = { wire, ...subscribe, header: timeoutHeader(wire, "9000") };
      await chunksOf(await sendRaw(handlers, left)).return?.();
      expect(clock.pending()).toEqual([]);
    });

    it("that has passed before the call lets nothing run", async () => {
      let calls = 0;
      const service = createFakeService({
        getTask: () => {
          calls += 1;
          return fakeTask();
        },
      });
      const call = { wire, ...getTask, header: timeoutHeader(wire, "0") };
      const { error } = await readRaw(call, await sendRaw(createRpcHandlers(service), call));
      expect([error?.code, calls]).toEqual([Code.DeadlineExceeded, 0]);
    });

    it("that is further away than timers reach does not wrap around", async () => {
      const header =
        wire === "connect" ? { "connect-timeout-ms": "9999999999" } : { "grpc-timeout": "99999999H" };
      const clock = createManualTimer();
      const call = { wire, ...getTask, header };
      const handlers = createRpcHandlers(createFakeService(), { timer: clock.timer });
      const pending = sendRaw(handlers, call);
      expect(clock.pending()).toEqual([]);
      expect((await readRaw(call, await pending)).error).toBeUndefined();
    });

    it("leaves the caller's own leaving as it is", async () => {
      const { service, contexts, started } = createWaitingService();
      const leave = new AbortController();
      const call = { wire, ...getTask, header: timeoutHeader(wire, "5000"), signal: leave.signal };
      const pending = sendRaw(createRpcHandlers(service), call);
      await started;
      const reason = new Error("gone");
      leave.abort(reason);
      await pending;
      expect(contexts[0]?.signal.reason).toBe(reason);
    });
  });
}
