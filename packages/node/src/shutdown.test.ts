import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { TaskState } from "@a2a-connect/proto";
import { say } from "@a2a-connect/testing";
import { Code } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { connectAgent } from "./connect-when-called.ts";

const program = `
  const { listen } = await import(${JSON.stringify(import.meta.resolve("./port/listen.ts"))});
  const { shutdownOnSignal } = await import(${JSON.stringify(import.meta.resolve("./shutdown.ts"))});
  const { promise: opened, resolve: open } = Promise.withResolvers();
  const listener = await listen(async ({ url }) => {
    console.log("request");
    await opened;
    return { status: 200, body: new TextEncoder().encode("finished") };
  });
  const { finished } = shutdownOnSignal({ close(options) { setTimeout(open, 10); return listener.close(options); } });
  console.log(listener.url);
  console.log("closed by " + (await finished));
`;

const servingProgram = `
  const { serve, connectAgent } = await import(${JSON.stringify(import.meta.resolve("./index.ts"))});
  const { createMemoryTaskStore } = await import(${JSON.stringify(import.meta.resolve("@a2a-connect/server"))});
  const told = Promise.withResolvers();
  process.once("SIGTERM", () => setTimeout(told.resolve, 10));
  const agent = {
    card: { name: "Slow" },
    async *execute(turn) {
      if (turn.text === "ask") return yield turn.inputRequired("What?");
      yield turn.working("begun");
      await told.promise;
      yield turn.artifact({ name: "late", text: "finished" });
    },
  };
  const served = await serve(agent, { store: createMemoryTaskStore() });
  console.log(served.url);
`;

describe("a server of serve()", () => {
  it("finishes running work on SIGTERM, does not wait for streams of tasks that rest, and ends the process with 0", async () => {
    const child = spawn(process.execPath, ["--input-type=module", "--eval", servingProgram], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const exited = once(child, "exit");
    const { value: url = "" } = await createInterface(child.stdout)[Symbol.asyncIterator]().next();
    await using client = await connectAgent(url);
    const waiting = await client.rpc.sendMessage(say("ask"));
    const { id = "" } = waiting.payload.case === "task" ? waiting.payload.value : {};
    const idle = client.rpc.subscribeToTask({ id })[Symbol.asyncIterator]();
    await idle.next();
    const events: string[] = [];
    for await (const { payload } of client.rpc.sendStreamingMessage(say("work"))) {
      events.push(payload.case === "statusUpdate" ? `${payload.value.status?.state}` : `${payload.case}`);
      if (events.length === 2) child.kill("SIGTERM");
    }
    expect(events).toEqual(["task", `${TaskState.WORKING}`, "artifactUpdate", `${TaskState.COMPLETED}`]);
    await expect(idle.next()).rejects.toMatchObject({ code: Code.Unavailable });
    expect(await exited).toEqual([0, null]);
  });
});

const failingProgram = `
  const { serve } = await import(${JSON.stringify(import.meta.resolve("./index.ts"))});
  const { createMemoryTaskStore } = await import(${JSON.stringify(import.meta.resolve("@a2a-connect/server"))});
  const close = () => Promise.reject(new Error("the disk is full"));
  const store = { ...createMemoryTaskStore(), close };
  const agent = { card: { name: "Agent" }, execute: () => [] };
  const log = ({ error }) => error && (console.log(error.message), setTimeout(() => console.log("the rest goes on"), 50));
  await serve(agent, { store, log });
  console.log("up");
`;

it("a server that cannot be closed in order says so in its log, and the rest of the program ends by itself", async () => {
  const child = spawn(process.execPath, ["--input-type=module", "--eval", failingProgram], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  const exited = once(child, "exit");
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  expect((await lines.next()).value).toBe("up");
  child.kill("SIGTERM");
  expect((await lines.next()).value).toBe("the disk is full");
  expect((await lines.next()).value).toBe("the rest goes on");
  expect(await exited).toEqual([1, null]);
});

describe("shutdownOnSignal", () => {
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    it(`finishes the request in flight and ends the process with 0 on ${signal}`, async () => {
      const child = spawn(process.execPath, ["--input-type=module", "--eval", program], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      const exited = once(child, "exit");
      const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
      const { value: url = "" } = await lines.next();
      const answer = fetch(url).then((response) => response.text());
      expect((await lines.next()).value).toBe("request");
      child.kill(signal);
      expect(await answer).toBe("finished");
      expect((await lines.next()).value).toBe(`closed by ${signal}`);
      expect(await exited).toEqual([0, null]);
    });
  }
});
