import { lifecycleExtension } from "@a2a-connect/core";
import type { AgentCard } from "@a2a-connect/proto";
import { isVague, skillsWithout, vagueSkills } from "../probes/skills.ts";
import type { ChecklistFacts, Judgement } from "./checklist.ts";

/** Settings of the lifecycle extension in a card; undefined when the card does not have it. */
export function lifecycleParams(card: AgentCard): Readonly<Record<string, unknown>> | undefined {
  const found = card.capabilities?.extensions.find(({ uri }) => uri === lifecycleExtension);
  return found === undefined ? undefined : (found.params ?? {});
}

/** Whether callers can pin the agent's version. */
export function judgeVersion({ card: { version } }: ChecklistFacts): Judgement {
  const isPinned = /^v?\d+\.\d+\.\d+([-+].*)?$/.test(version) && !/^v?0\.0\.0/.test(version);
  return isPinned
    ? { verdict: "yes", evidence: version }
    : {
        verdict: "no",
        evidence: version === "" ? "none" : version,
        fix: "Give it a semantic version, and raise it with every change.",
      };
}

/** Whether a model can choose agent and skills by their descriptions. */
export function judgeDescriptions({ card }: ChecklistFacts): Judgement {
  const flaws = [
    ...(isVague(card.description, card.name) ? ["the agent's own"] : []),
    ...(card.skills.length === 0 ? ["no skills"] : []),
    ...vagueSkills(card),
    ...skillsWithout(card, ({ examples }) => examples).map((id) => `${id} (no example)`),
  ];
  return flaws.length === 0
    ? { verdict: "yes", evidence: `${card.skills.length} skill(s), each with description and example` }
    : {
        verdict: "no",
        evidence: flaws.join(", "),
        fix: "Say what goes in, what comes out and when to use it, and give an example.",
      };
}

/** Whether a question that nobody answers ends. */
export function judgeQuestionTimeout({ card }: ChecklistFacts): Judgement {
  const params = lifecycleParams(card);
  if (params === undefined) {
    return {
      verdict: "no",
      evidence: "the card does not have the lifecycle extension",
      fix: "Declare how long questions wait (docs/extensions/lifecycle.md).",
    };
  }
  if (params["asks"] === false && params["asksForAuth"] !== true) {
    return { verdict: "yes", evidence: "the card says that it never asks" };
  }
  const longest = params["longestWaitSeconds"];
  return typeof longest === "number"
    ? { verdict: "yes", evidence: `longestWaitSeconds: ${longest}` }
    : {
        verdict: "no",
        evidence: "the card gives no longestWaitSeconds: questions wait for ever",
        fix: "Limit how long questions wait.",
      };
}

/** Whether strangers are kept out, and nobody can read along. */
export function judgeAccess({ card, findings }: ChecklistFacts): Judgement {
  const cleartext = findings.find(({ id, severity }) => id === "network.cleartext" && severity === "problem");
  if (cleartext !== undefined) return { verdict: "no", evidence: cleartext.what, fix: "Serve https." };
  if (card.securityRequirements.length === 0) {
    return {
      verdict: "no",
      evidence: "the card requires no credentials",
      fix: "Require some, or let a proxy do it and declare it in the card.",
    };
  }
  const anonymous = findings.find(({ id }) => id === "security.anonymous");
  return anonymous?.severity === "ok"
    ? { verdict: "yes", evidence: anonymous.what }
    : {
        verdict: anonymous?.severity === "problem" ? "no" : "unproven",
        evidence: anonymous?.what ?? "not tried",
        fix: "Refuse callers without credentials with UNAUTHENTICATED.",
      };
}

/** Whether the examination found nothing that keeps callers out. */
export function judgeFindings({ findings }: ChecklistFacts): Judgement {
  const problems = findings.filter(({ severity }) => severity === "problem");
  return problems.length === 0
    ? { verdict: "yes", evidence: "no problem was found" }
    : { verdict: "no", evidence: problems.map(({ id }) => id).join(", "), fix: "See above." };
}

/** Whether clients can keep the card and learn of its changes. */
export function judgeCaching({ findings }: ChecklistFacts): Judgement {
  const wanted = ["card.cache-control", "card.etag"];
  const seen = findings.filter(({ id }) => wanted.includes(id));
  const bad = seen.filter(({ severity }) => severity === "warning" || severity === "problem");
  if (seen.length === 0) return { verdict: "unproven", evidence: "the card was read from a file" };
  return bad.length === 0
    ? { verdict: "yes", evidence: "Cache-Control and 304" }
    : {
        verdict: "no",
        evidence: bad.map(({ what }) => what).join(" "),
        fix: "Send Cache-Control and ETag, and answer If-None-Match.",
      };
}
