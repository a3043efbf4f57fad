import { askForNothing, describeOutcome, findingAt, type LiveInterface, type Probe } from "../examination.ts";
import { type Finding, quote } from "../finding.ts";
import type { CallOutcome } from "../interface-calls.ts";

/** Whether `A2A-Version` is honoured (requirements F-4 and F-5). */
export const versionProbe: Probe = {
  id: "version",
  async run({ live }) {
    const findings = await Promise.all(live.map(probeInterface));
    return findings.flat();
  },
};

async function probeInterface(served: LiveInterface): Promise<Finding[]> {
  const wrong = await served.calls.call(askForNothing, { version: "99.0" });
  const none = await served.calls.call(askForNothing, { version: null });
  return [judgeWrong(wrong), judgeNone(none)].map((finding) => findingAt(served, finding));
}

function judgeWrong(outcome: CallOutcome): Finding {
  const id = "version.unknown";
  const evidence = quote(describeOutcome(outcome));
  if (outcome.reason === "VERSION_NOT_SUPPORTED") {
    return { id, severity: "ok", what: "A version that nobody speaks is refused as it should be." };
  }
  return outcome.error === undefined || outcome.reason === "TASK_NOT_FOUND"
    ? {
        id,
        severity: "warning",
        what: "A2A-Version: 99.0 is served as if it were spoken here: callers of other versions misread what they get.",
        evidence,
        fix: "Refuse versions that the card does not list with VERSION_NOT_SUPPORTED.",
      }
    : {
        id,
        severity: "warning",
        what: "A version that nobody speaks is refused with the wrong error.",
        evidence,
        fix: "Answer VERSION_NOT_SUPPORTED, and say which versions there are.",
      };
}

function judgeNone(outcome: CallOutcome): Finding {
  const id = "version.absent";
  if (outcome.reason === "VERSION_NOT_SUPPORTED") {
    return { id, severity: "ok", what: "A call without A2A-Version counts as 0.3, and is refused." };
  }
  if (outcome.reason === "TASK_NOT_FOUND" || outcome.error === undefined) {
    return {
      id,
      severity: "note",
      what: "A call without A2A-Version is served, although it counts as 0.3: lenient.",
    };
  }
  return {
    id,
    severity: "warning",
    what: "A call without A2A-Version fails with an error that does not say why.",
    evidence: quote(describeOutcome(outcome)),
    fix: "Answer VERSION_NOT_SUPPORTED, and say what to send.",
  };
}
