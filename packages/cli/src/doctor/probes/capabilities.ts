import type { AgentCapabilities } from "@a2a-connect/proto";
import { Code } from "@connectrpc/connect";
import { describeOutcome, findingAt, type LiveInterface, madeUpTaskId, type Probe } from "../examination.ts";
import { type Finding, quote } from "../finding.ts";
import type { CallOutcome, RpcClient } from "../interface-calls.ts";

/** One capability of the card, and a harmless call that needs it. */
interface Capability {
  readonly id: string;
  /** In the words of the card. */
  readonly name: string;
  isDeclared(capabilities: AgentCapabilities | undefined): boolean;
  call(client: RpcClient, options: { signal: AbortSignal }): Promise<unknown>;
  /** Whether the outcome is that of a server that can do it. */
  works(outcome: CallOutcome): boolean;
  /** Whether it was answered where a task that does not exist has to be refused. */
  answersUnknownTask?(outcome: CallOutcome): boolean;
}

const wantsTask = ({ reason }: CallOutcome): boolean => reason === "TASK_NOT_FOUND";

const isAnswered = ({ answer }: CallOutcome): boolean => answer !== undefined;

const capabilities: readonly Capability[] = [
  {
    id: "capability.streaming",
    name: "streaming",
    isDeclared: (declared) => declared?.streaming === true,
    async call(client, options) {
      for await (const event of client.subscribeToTask({ id: madeUpTaskId() }, options)) return event;
      return undefined;
    },
    works: (outcome) => wantsTask(outcome) || isAnswered(outcome),
    answersUnknownTask: isAnswered,
  },
  {
    id: "capability.push",
    name: "pushNotifications",
    isDeclared: (declared) => declared?.pushNotifications === true,
    // Of a task that does not exist: nothing is registered anywhere.
    call: (client, options) => client.listTaskPushNotificationConfigs({ taskId: madeUpTaskId() }, options),
    works: (outcome) => wantsTask(outcome) || outcome.error === undefined,
  },
  {
    id: "capability.extended-card",
    name: "extendedAgentCard",
    isDeclared: (declared) => declared?.extendedAgentCard === true,
    call: (client, options) => client.getExtendedAgentCard({}, options),
    works: ({ error }) =>
      error === undefined || error.code === Code.Unauthenticated || error.code === Code.PermissionDenied,
  },
];

/** Whether the agent can do what its card says, and nothing else (spec §3.3.4). */
export const capabilityProbe: Probe = {
  id: "capability",
  async run({ card, live }) {
    const findings: Finding[] = [];
    for (const capability of capabilities) {
      const isDeclared = capability.isDeclared(card.capabilities);
      findings.push(...(await Promise.all(live.map((served) => probe(capability, isDeclared, served)))));
    }
    return findings;
  },
};

async function probe(capability: Capability, isDeclared: boolean, served: LiveInterface): Promise<Finding> {
  const outcome = await served.calls.call(capability.call);
  return findingAt(
    served,
    isDeclared ? judgeDeclared(capability, outcome) : judgeSilent(capability, outcome),
  );
}

function judgeDeclared({ id, name, works, answersUnknownTask }: Capability, outcome: CallOutcome): Finding {
  if (answersUnknownTask?.(outcome) === true) {
    return {
      id,
      severity: "warning",
      what: `The card says ${name}, and it works, but a task that does not exist is not refused.`,
      evidence: quote(describeOutcome(outcome)),
      fix: "Answer TASK_NOT_FOUND (spec §3.3.2).",
    };
  }
  if (works(outcome)) return { id, severity: "ok", what: `The card says ${name}, and it works.` };
  const evidence = quote(describeOutcome(outcome));
  if (outcome.reason === "EXTENDED_AGENT_CARD_NOT_CONFIGURED") {
    return {
      id,
      severity: "warning",
      what: "The card says extendedAgentCard, and there is none.",
      evidence,
      fix: "Configure one, or take the capability out.",
    };
  }
  return {
    id,
    severity: "problem",
    what: `The card says ${name}, and it does not work.`,
    evidence,
    fix: `Make it work, or say "${name}": false.`,
  };
}

function judgeSilent({ id, name, works }: Capability, outcome: CallOutcome): Finding {
  if (isRefused(outcome))
    return { id, severity: "ok", what: `The card does not say ${name}, and the server refuses it.` };
  return works(outcome)
    ? {
        id,
        severity: "note",
        what: `The card does not say ${name}, and yet it seems to work.`,
        evidence: quote(describeOutcome(outcome)),
        fix: "Declare it, or refuse it.",
      }
    : {
        id,
        severity: "warning",
        what: `The card does not say ${name}, and the server fails when it is asked.`,
        evidence: quote(describeOutcome(outcome)),
        fix: "Refuse it with UNSUPPORTED_OPERATION, or PUSH_NOTIFICATION_NOT_SUPPORTED.",
      };
}

function isRefused({ reason, error }: CallOutcome): boolean {
  return (
    reason === "UNSUPPORTED_OPERATION" ||
    reason === "PUSH_NOTIFICATION_NOT_SUPPORTED" ||
    reason === "EXTENDED_AGENT_CARD_NOT_CONFIGURED" ||
    error?.code === Code.Unimplemented
  );
}
