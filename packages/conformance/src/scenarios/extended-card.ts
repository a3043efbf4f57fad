import { findA2AError } from "@a2a-connect/core";
import { findMissingFields } from "@a2a-connect/core/internal";
import { AgentCardSchema, TaskState } from "@a2a-connect/proto";
import { Code, ConnectError } from "@connectrpc/connect";
import { expectCode, expectReason, newId, sendTask } from "../calls.ts";
import { expect } from "../expect.ts";
import { type ScenarioGroup, scenarios } from "../scenario.ts";
import { asCaller } from "../server-name.ts";

/** A.6 */
export const extendedCard: ScenarioGroup = scenarios("A.6 GetExtendedAgentCard", ({ verifies, anyAgent }) => {
  const withIdentity = verifies.where({ server: "identity" });

  anyAgent.where({ when: ["no-extended-card"], server: "bare" })(
    "A-60",
    "refuses the operation when the card does not declare it",
    ({ client }) => expectReason(client.getExtendedAgentCard({}), "UNSUPPORTED_OPERATION"),
  );

  verifies.where({ server: "no-card" })(
    "A-61",
    "says so when a card is declared and there is none",
    ({ client }) => expectReason(client.getExtendedAgentCard({}), "EXTENDED_AGENT_CARD_NOT_CONFIGURED"),
  );

  anyAgent.where({ when: ["extended-card"] })(
    "A-61 A-62 H-7",
    "shows a whole extended card, or says that there is none or that the caller is unknown",
    async ({ client, note }) => {
      const outcome = await client
        .getExtendedAgentCard({})
        .catch((error: unknown) => ConnectError.from(error));
      if (!(outcome instanceof ConnectError)) {
        expect(findMissingFields(AgentCardSchema, outcome)).toStrictEqual([]);
        return;
      }
      const unknown = outcome.code === Code.Unauthenticated || outcome.code === Code.PermissionDenied;
      if (!unknown)
        expect(findA2AError(outcome)?.reason, outcome.message).toBe("EXTENDED_AGENT_CARD_NOT_CONFIGURED");
      note(`The extended card is not shown: ${outcome.rawMessage}`);
    },
  );

  withIdentity("A-62", "demands credentials, which other calls do not need", async ({ client }) => {
    await expectCode(client.getExtendedAgentCard({}), Code.Unauthenticated);
    expect((await sendTask(client, "task anonymous")).status?.state).toBe(TaskState.COMPLETED);
  });

  withIdentity("A-62 A-63", "gives each caller the card that is for them", async ({ target, wire }) => {
    for (const name of [newId(), newId()]) {
      const card = await target.client(wire, { headers: asCaller(name) }).getExtendedAgentCard({});
      expect(card.name).toBe(`The card of ${name}`);
    }
  });
});
