import { quotedList } from "./quoted.ts";
import type { VerdictAlarm, VerdictReport } from "./verdict-report.ts";

type Facts = Pick<VerdictReport, "verification" | "fits" | "lostKeySets" | "known">;

/** Why the verdict is what it is, in a sentence or more: the library's words, with what only the command has looked for. */
export function tellStory({ verification, fits, lostKeySets }: Facts): string {
  const { message, reason } = verification;
  if (fits !== undefined) {
    const { profile, uncovered } = fits;
    const open =
      uncovered.length === 0
        ? "whatever is empty could have been taken out of it without a trace"
        : `it would leave unprotected ${quotedList(uncovered)}`;
    return `The signature is not one of this card by the specification. It is right by the profile ${profile}, of older software, and by that ${open}. Whether such software has signed the card, or somebody changed it after it was signed, nobody can tell from the card: do not use it before you know.`;
  }
  const lost = reason === "jwks-unavailable" ? lostKeySets[0] : undefined;
  if (lost === undefined) return message;
  const { what, code } = lost.failure;
  return `${message} The server of the key set ${what}${code === undefined ? "" : ` (${code})`}.`;
}

/** What a person should look at. That a known agent signs no more is the greatest of all downgrades. */
export function tellAlarms({ verification, known }: Facts): readonly VerdictAlarm[] {
  const { alarms, reason } = verification;
  const { remembered, key } = known ?? {};
  if (reason !== "no-signature" || remembered === undefined) return alarms;
  const { thumbprints, lastSeen } = remembered;
  const text = `The cards of ${key} were signed, by the key with thumbprint ${thumbprints.join(", ")}, the last one seen at ${lastSeen}; this one is not.`;
  return [{ kind: "unsigned", text, paths: ["signatures"] }, ...alarms];
}
