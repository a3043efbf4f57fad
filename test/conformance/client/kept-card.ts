import { a2aError } from "@a2a-connect/core";
import { expect } from "vitest";
import { failureOf } from "../../../packages/client/test-support/outcomes.ts";
import { clientScenarios } from "./client-scenario.ts";
import { meetPeer } from "./every-operation.ts";
import { taskId } from "./peer.ts";

/** How often the card is asked for. */
export const keptCard = clientScenarios("The card that the client keeps", (verifies) => {
  verifies("L-6", "is not asked for again, however much is called", async (wire) => {
    const { peer, agent } = await meetPeer(
      wire,
      {},
      { peer: { cardHeaders: { "cache-control": "max-age=60" } } },
    );
    await Promise.all(Array.from({ length: 10 }, () => agent.getTask(taskId)));
    await agent.sendMessage("hello");
    expect(peer.cardRequests).toHaveLength(1);
  });

  verifies(
    "L-6",
    "is asked for on condition when a refusal makes it doubtful, and confirmed",
    async (wire) => {
      const { peer, agent } = await meetPeer(
        wire,
        {
          sendMessage: () => {
            throw a2aError("CONTENT_TYPE_NOT_SUPPORTED", "not that");
          },
        },
        { peer: { cardHeaders: { "cache-control": "max-age=60", etag: '"v1"' } } },
      );
      const { card } = agent;
      await failureOf(agent.sendMessage("hello"));
      expect(peer.cardRequests.map((header) => header.get("if-none-match"))).toEqual([null, '"v1"']);
      expect(agent.card).toBe(card);
    },
  );

  verifies("L-6", "is asked for again before something is sent when it is too old", async (wire) => {
    const { peer, agent } = await meetPeer(
      wire,
      {},
      { peer: { cardHeaders: { "cache-control": "max-age=0", etag: '"v1"' } } },
    );
    await agent.sendMessage("hello");
    expect(peer.cardRequests.map((header) => header.get("if-none-match"))).toEqual([null, '"v1"']);
  });
});
