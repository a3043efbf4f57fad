import { Code } from "@connectrpc/connect";
import { askForNothing, describeOutcome, findingAt, type Probe } from "../examination.ts";
import { quote } from "../finding.ts";

/** Whether those who do not say who they are get in where the card says that they must not (spec §7). */
export const securityProbe: Probe = {
  id: "security",
  async run({ card, live }) {
    if (card.securityRequirements.length === 0) {
      return [
        {
          id: "security.anonymous",
          severity: "note",
          what: "The agent is open to everybody who reaches it, as its card says.",
          fix: "Where that is not meant: declare securitySchemes and securityRequirements, and check them.",
        },
      ];
    }
    if (card.securityRequirements.some(({ schemes }) => Object.keys(schemes).length === 0)) {
      return [
        { id: "security.anonymous", severity: "note", what: "Credentials are optional, as the card says." },
      ];
    }
    return await Promise.all(
      live.map(async (served) => {
        const outcome = await served.calls.call(askForNothing, { anonymous: true });
        const isRefused =
          outcome.error?.code === Code.Unauthenticated || outcome.error?.code === Code.PermissionDenied;
        return findingAt(
          served,
          isRefused
            ? { id: "security.anonymous", severity: "ok", what: "Callers without credentials are refused." }
            : {
                id: "security.anonymous",
                severity: "problem",
                what: "The card requires credentials, and callers without any get in.",
                evidence: quote(describeOutcome(outcome)),
                fix: "Check credentials before anything else, and answer UNAUTHENTICATED.",
              },
        );
      }),
    );
  },
};
