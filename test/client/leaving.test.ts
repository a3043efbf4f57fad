// Whoever stops reading ends the connection: nothing stays open behind a loop that was left.
import { connectAgent } from "@a2a-connect/node/client";
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
});
