import type { AgentCard, AgentInterface } from "@a2a-connect/proto";
import { Code } from "@connectrpc/connect";
import { askForNothing, describeOutcome, type LiveInterface } from "../examination.ts";
import { type Finding, quote } from "../finding.ts";
import {
  type CallOutcome,
  type InterfaceCalls,
  type InterfaceCallsOptions,
  labelOf,
  openInterface,
} from "../interface-calls.ts";
import { explainNetworkFailure } from "../network-failure.ts";
import { isLocalHost } from "../target.ts";

/** Which interfaces of the card answer. */
export interface InterfacesReport {
  readonly findings: readonly Finding[];
  /** To be disposed of by the caller. */
  readonly live: readonly LiveInterface[];
}

/** Versions whose calls this command knows. */
const knownVersions = ["1.0", "1.1"];

/** Asks every interface of the card for a task that does not exist: TASK_NOT_FOUND is the sound of a healthy server. */
export async function probeInterfaces(
  card: AgentCard,
  cardUrl: URL | undefined,
  options: InterfaceCallsOptions,
): Promise<InterfacesReport> {
  const reports = await Promise.all(
    card.supportedInterfaces.map((served) => probeInterface(served, card, cardUrl, options)),
  );
  const findings = reports.flatMap((report) => report.findings);
  const live = reports.flatMap((report) => report.live);
  if (live.length === 0) {
    findings.push({
      id: "interface.any",
      severity: "problem",
      what: "No interface of the card can be used: nobody can call this agent.",
      fix: "See above, interface by interface.",
    });
  }
  return { findings, live };
}

async function probeInterface(
  served: AgentInterface,
  card: AgentCard,
  cardUrl: URL | undefined,
  options: InterfaceCallsOptions,
): Promise<InterfacesReport> {
  const at = [labelOf(served)];
  if (!knownVersions.includes(served.protocolVersion)) {
    return {
      findings: [
        {
          id: "interface.version",
          severity: "note",
          what: "An interface speaks a version that this command does not: not tried.",
          evidence: quote(served.protocolVersion),
          at,
        },
      ],
      live: [],
    };
  }
  const address = judgeAddress(served, cardUrl).map((finding) => ({ ...finding, at }));
  const calls = open(served, options);
  if (!("call" in calls)) return { findings: [...address, { ...calls, at }], live: [] };
  const health = await calls.call(askForNothing);
  const { finding, isAlive } = judgeHealth(health, calls, card);
  if (!isAlive) calls[Symbol.dispose]();
  return { findings: [...address, { ...finding, at }], live: isAlive ? [{ calls, health }] : [] };
}

function open(served: AgentInterface, options: InterfaceCallsOptions): InterfaceCalls | Finding {
  const id = "interface.binding";
  try {
    return (
      openInterface(served, options) ?? {
        id,
        severity: "note",
        what: "An interface has a binding that this command cannot call: not tried.",
        evidence: quote(served.protocolBinding),
      }
    );
  } catch (error) {
    return {
      id: "interface.url",
      severity: "problem",
      what: "The URL of an interface makes no sense.",
      evidence: `${quote(served.url)}: ${error instanceof Error ? quote(error.message) : ""}`,
      fix: served.protocolBinding === "GRPC" ? "Write host:port." : "Write an absolute https URL.",
    };
  }
}

/** What the interface's address gives away. */
function judgeAddress({ url }: AgentInterface, cardUrl: URL | undefined): Finding[] {
  const host = (URL.parse(url) ?? URL.parse(`http://${url}`))?.hostname;
  if (host === undefined || host === "" || cardUrl === undefined) return [];
  if (isLocalHost(host) && !isLocalHost(cardUrl.hostname)) {
    return [
      {
        id: "interface.url",
        severity: "problem",
        what: "The card sends callers to their own machine.",
        evidence: quote(url),
        fix: "Tell the server its public URL, so that the card has it.",
      },
    ];
  }
  if (cardUrl.protocol === "https:" && url.startsWith("http:") && !isLocalHost(host)) {
    return [
      {
        id: "interface.url",
        severity: "problem",
        what: "The card comes over TLS and sends callers to where there is none.",
        evidence: quote(url),
        fix: "Write an https URL.",
      },
    ];
  }
  return [];
}

interface Verdict {
  readonly finding: Finding;
  readonly isAlive: boolean;
}

function judgeHealth(health: CallOutcome, { interface: served }: InterfaceCalls, card: AgentCard): Verdict {
  const { error, reason, ms } = health;
  const evidence = quote(describeOutcome(health));
  const id = "interface.health";
  if (reason === "TASK_NOT_FOUND") {
    const slow = ms > slowAnswerMs;
    return alive({
      id,
      severity: slow ? "warning" : "ok",
      what: slow ? "The interface answers, but slowly." : "The interface answers as it should.",
      ...(slow
        ? { evidence: `${ms} ms`, fix: "A look-up that finds nothing should take milliseconds." }
        : {}),
    });
  }
  if (error === undefined) {
    return alive({
      id,
      severity: "problem",
      what: "A task that does not exist is answered with a task.",
      evidence,
      fix: "Answer TASK_NOT_FOUND.",
    });
  }
  if (reason === "VERSION_NOT_SUPPORTED") {
    return dead({
      id,
      severity: "problem",
      what: `The card says that the interface speaks ${quote(served.protocolVersion)}, and the interface refuses it.`,
      evidence,
      fix: "Let card and server agree.",
    });
  }
  if (reason === "EXTENSION_SUPPORT_REQUIRED") {
    return dead({
      id,
      severity: "note",
      what: "The agent insists on extensions that this command does not activate: not examined further.",
      evidence,
    });
  }
  switch (error.code) {
    case Code.Unauthenticated:
    case Code.PermissionDenied:
      return judgeRefusal(card, evidence);
    case Code.NotFound:
      return judgeNotFound(health, evidence);
    case Code.Unavailable:
      return dead({ id, severity: "problem", ...explainUnavailable(health) });
    case Code.DeadlineExceeded:
    case Code.Canceled:
      return dead({
        id,
        severity: "problem",
        what: "The interface takes the call and does not answer in time.",
        evidence: `${ms} ms`,
        fix: "Look whether it hangs.",
      });
    case Code.Unimplemented:
      return dead({
        id,
        severity: "problem",
        what: "The interface does not know GetTask.",
        evidence,
        fix: "Check the URL in the card, and that the server speaks A2A 1.0: the names of its methods have changed.",
      });
    default:
      return dead({
        id,
        severity: "problem",
        what: "The interface answers with something that is no answer of A2A.",
        evidence: withBody(health, evidence),
        fix: "A task that does not exist is TASK_NOT_FOUND.",
      });
  }
}

const slowAnswerMs = 2_000;

function judgeRefusal(card: AgentCard, evidence: string): Verdict {
  const id = "interface.health";
  return card.securityRequirements.length > 0
    ? dead({
        id,
        severity: "note",
        what: "The interface wants credentials, as the card says: not examined further.",
        evidence,
        fix: "Give some: --bearer, --api-key.",
      })
    : dead({
        id,
        severity: "problem",
        what: "The interface wants credentials, and the card does not say so: callers cannot know how.",
        evidence,
        fix: "Declare securitySchemes and securityRequirements.",
      });
}

/** Without its name the error may as well be a URL that leads nowhere. */
function judgeNotFound(health: CallOutcome, evidence: string): Verdict {
  const id = "interface.health";
  const { exchange } = health;
  const isProtocolError = exchange === undefined || /^\s*\{/.test(exchange.body);
  return isProtocolError
    ? alive({
        id,
        severity: "warning",
        what: "The interface answers, but does not name its errors.",
        evidence: withBody(health, evidence),
        fix: "Add google.rpc.ErrorInfo with the reason TASK_NOT_FOUND and the domain a2a-protocol.org.",
      })
    : dead({
        id,
        severity: "problem",
        what: "There is nothing at the interface's URL.",
        evidence,
        fix: "Correct the URL in the card.",
      });
}

function explainUnavailable(health: CallOutcome): Pick<Finding, "what" | "evidence" | "fix"> {
  const { error, exchange } = health;
  if (exchange !== undefined) {
    return {
      what: "The interface says that it is not available.",
      evidence: withBody(health, `HTTP ${exchange.status}`),
      fix: "Look into the server's log.",
    };
  }
  const failure = explainNetworkFailure(error);
  return failure.code === undefined
    ? {
        what: "The interface cannot be reached.",
        evidence: quote(error?.rawMessage ?? ""),
        fix: "Start it, or correct the URL in the card.",
      }
    : { what: `The interface's server ${failure.what}.`, evidence: failure.code, fix: failure.fix };
}

function withBody({ exchange }: CallOutcome, evidence: string): string {
  return exchange === undefined || exchange.body === "" ? evidence : `${evidence} (${quote(exchange.body)})`;
}

function alive(finding: Finding): Verdict {
  return { finding, isAlive: true };
}

function dead(finding: Finding): Verdict {
  return { finding, isAlive: false };
}
