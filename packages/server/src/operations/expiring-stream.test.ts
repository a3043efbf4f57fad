import { runtimeKey } from "@a2a-connect/core/internal";
import { A2AService } from "@a2a-connect/proto";
import { createFakeClock } from "@a2a-connect/testing";
import { Code, createContextValues, createHandlerContext, type HandlerContext } from "@connectrpc/connect";
import { expect, it } from "vitest";
import { expiringStream } from "./expiring-stream.ts";

it("a stream whose credentials have expired ends in the turn of its answer: thousands may have the same ones", async () => {
  const clock = createFakeClock();
  const turn = Promise.withResolvers<void>();
  let asked = 0;
  const turnToGoOn = (): Promise<void> => {
    asked += 1;
    return turn.promise;
  };
  const connection = { callerNetwork: undefined, turnToGoOn };
  const context = createHandlerContext({
    service: A2AService,
    method: A2AService.method.subscribeToTask,
    protocolName: "grpc",
    requestMethod: "POST",
    url: "http://localhost/",
    contextValues: createContextValues().set(runtimeKey, connection as never), // all that is asked of it here
  });
  async function* forever({ signal }: HandlerContext): AsyncGenerator<number> {
    yield 1;
    await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  }
  const stream = expiringStream(context, clock.now() + 1_000, clock, forever);
  expect(await stream.next()).toMatchObject({ value: 1 });
  const end = stream.next();
  await clock.advance(999);
  expect(asked).toBe(0);
  await clock.advance(1);
  expect(asked).toBe(1);
  turn.resolve();
  await expect(end).rejects.toMatchObject({ code: Code.Unauthenticated });
});
