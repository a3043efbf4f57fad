// Whoever stops reading ends the connection: nothing stays open behind a loop that was left.
import { connectAgent } from "@a2a-connect/node/client";
import { TaskState } from "@a2a-connect/proto";
import { defineAgent } from "@a2a-connect/server";
import { startAgentHarness, wires } from "@a2a-connect/testing";
import type { Interceptor } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { bindingOf } from "./interfaces.ts";

const waiter = defineAgent({
  card: { name: "Waiter", description: "Asks, and waits." },
  *execute(turn) {
    yield turn.inputRequired("And then?");
  },
});

describe.each(wires)("over %s", (wire) => {
  it.each(["stream", "follow", "run"] as const)(
    "a caller of %s who stops reading leaves nothing open",
    async (how) => {
      let open = 0;
      const ended = Promise.withResolvers<void>();
      const count: Interceptor = (next) => (request) => {
        if (request.stream) {
          open += 1;
          request.signal.addEventListener("abort", () => {
            open -= 1;
            if (open === 0) ended.resolve();
          });
        }
        return next(request);
      };
      await using harness = await startAgentHarness({ agent: waiter });
      await using agent = await connectAgent(harness.url, {
        pinBinding: bindingOf[wire],
        interceptors: [count],
      });
      if (how === "run") {
        await expect(agent.run("go")).rejects.toThrow("And then?");
      } else if (how === "stream") {
        for await (const _ of agent.stream("go")) break;
      } else {
        const sent = await agent.sendMessage("go");
        const id = sent.payload.case === "task" ? sent.payload.value.id : "";
        for await (const _ of agent.follow(id)) break;
      }
      await ended.promise;
      expect(open).toBe(0);
    },
  );

  it.each(["stream", "follow"] as const)(
    "a caller of %s may leave while it waits for the next event",
    { timeout: 5_000 },
    async (how) => {
      await using harness = await startAgentHarness({ agent: waiter });
      await using agent = await connectAgent(harness.url, { pinBinding: bindingOf[wire] });
      const sent = await agent.sendMessage("go");
      const taskId = sent.payload.case === "task" ? sent.payload.value.id : "";
      const events = how === "follow" ? agent.follow(taskId) : agent.stream("go", { until: "terminal" });
      const iterator = events[Symbol.asyncIterator]();
      for (let asked = false; !asked; ) {
        const { value } = await iterator.next();
        asked = value !== undefined && events.task?.status?.state === TaskState.INPUT_REQUIRED;
      }
      const next = iterator.next(); // nothing more happens
      expect(await iterator.return?.()).toMatchObject({ done: true });
      expect(await next).toMatchObject({ done: true });
    },
  );
});
