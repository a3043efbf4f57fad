import { CardInvalidError, NoInterfaceError } from "@a2a-connect/client";
import type { ClientPlatform } from "@a2a-connect/client/internal";
import type { Wire } from "@a2a-connect/conformance";
import { findA2AError } from "@a2a-connect/core";
import { chunksOf, isLoopbackHost, readAtMost } from "@a2a-connect/core/internal";
import { connectAgent } from "@a2a-connect/node/client";
import { type AgentCard, AgentCardSchema, type AgentInterface } from "@a2a-connect/proto";
import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { maxCardBytes } from "../agent/reference.ts";
import { codeOf } from "../cli-error.ts";
import { readObject } from "../json.ts";
import { parseBinding } from "../settings/values.ts";
import { isText } from "../wire-log/wire-log.ts";
import { cardPath } from "./card-location.ts";
import { type Finding, type FindingId, find, idsByCode } from "./findings.ts";
import { type AskOptions, ask, findFailure } from "./network.ts";

export interface TryOptions extends AskOptions {
  readonly platform: ClientPlatform;
  /** Go with every call. */
  readonly headers: Readonly<Record<string, string>>;
  /** The wires of 1.0. */
  readonly wires: readonly Wire[];
}

export interface TriedInterfaces {
  readonly findings: readonly Finding[];
  /** What people call the first interface of each wire that answers. */
  readonly live: ReadonlyMap<Wire, string>;
}

/** A card of 1 MiB can name 15,000, each on another server: a card does not decide how many servers are called. */
const maxTried = 16;

/** One interface that is tried. */
interface Trial extends TryOptions {
  readonly served: AgentInterface;
  readonly card: AgentCard;
  readonly cardUrl: URL | undefined;
  readonly at: readonly string[];
  /** Where it is of 1.0. */
  readonly wire: Wire | undefined;
}

/** Asks every interface for a task that does not exist: TASK_NOT_FOUND is the answer of a healthy server. */
export async function tryInterfaces(
  card: AgentCard,
  cardUrl: URL | undefined,
  options: TryOptions,
): Promise<TriedInterfaces> {
  const tried = await Promise.all(
    card.supportedInterfaces.slice(0, maxTried).map(async (served) => {
      const label = labelOf(served);
      const wire = options.wires.find(
        (each) => parseBinding(each) === served.protocolBinding && served.protocolVersion === "1.0",
      );
      const address = judgeAddress(served, cardUrl).map((id) => find(id, served.url, [label]));
      const isCallable = !address.some(({ id }) => id === "interface.url");
      const trial: Trial = { ...options, served, card, cardUrl, at: [label], wire };
      const findings = [...address, ...(isCallable ? await tryInterface(trial) : [])];
      return { findings, label, wire, isAlive: findings.some(({ id }) => aliveIds.has(id)) };
    }),
  );
  const live = new Map<Wire, string>();
  // The kit takes the first one of each wire.
  for (const [wire, [first]] of Map.groupBy(tried, (each) => each.wire)) {
    if (wire !== undefined && first?.isAlive === true) live.set(wire, first.label);
  }
  const rest = card.supportedInterfaces.length - maxTried;
  const more = rest > 0 ? [find("interface.too-many", `${rest} more`)] : [];
  const none = tried.some(({ isAlive }) => isAlive) ? [] : [find("interface.none")];
  return { findings: [...tried.flatMap(({ findings }) => findings), ...more, ...none], live };
}

/** Findings after which it makes sense to go on with an interface. */
const aliveIds: ReadonlySet<string> = new Set<FindingId>([
  "interface.answers",
  "interface.slow",
  "interface.any-task",
  "interface.unnamed-errors",
]);

/** What an interface is called in findings; two of one binding differ by their version. */
function labelOf({ protocolBinding, protocolVersion }: AgentInterface): string {
  const name =
    /^urn:a2a-connect:binding:([a-z-]+):v1$/.exec(protocolBinding)?.[1] ?? protocolBinding.slice(0, 100);
  return protocolVersion === "1.0" ? name : `${name} ${protocolVersion.slice(0, 20)}`;
}

/** An interface's address; that of gRPC may be a host and a port alone, and is reached as the card is. */
function addressOf(
  { url, protocolBinding }: Pick<AgentInterface, "url" | "protocolBinding">,
  cardUrl: URL | undefined,
): URL | null {
  const isBare = protocolBinding === "GRPC" && !url.includes("://");
  return URL.parse(isBare ? `${cardUrl?.protocol ?? "http:"}//${url}` : url);
}

/** What the interface's address gives away. */
export function judgeAddress(
  served: Pick<AgentInterface, "url" | "protocolBinding">,
  cardUrl: URL | undefined,
): FindingId[] {
  const { hostname, protocol } = addressOf(served, cardUrl) ?? { hostname: "", protocol: "" };
  const isOfSpec = ["GRPC", "JSONRPC", "HTTP+JSON"].includes(served.protocolBinding);
  if (hostname === "") return isOfSpec ? ["interface.url"] : [];
  if (cardUrl === undefined || isLoopbackHost(cardUrl.hostname)) return [];
  if (isLoopbackHost(hostname)) return ["interface.own-machine"];
  return cardUrl.protocol === "https:" && protocol === "http:" ? ["interface.cleartext"] : [];
}

/** In place of what a card lacks: that was said, and its interfaces can be tried all the same. */
const standIns = {
  ...{ name: "-", description: "-", version: "-" },
  ...{ defaultInputModes: ["*/*"], defaultOutputModes: ["*/*"] },
  skills: [{ id: "-", name: "-", description: "-", tags: ["-"] }],
};

async function tryInterface(trial: Trial): Promise<readonly Finding[]> {
  const { served, card, wire, headers, signal, timeoutMs } = trial;
  const { capabilities = {}, securitySchemes } = card;
  const supportedInterfaces = [served];
  const one = create(AgentCardSchema, { ...standIns, capabilities, securitySchemes, supportedInterfaces });
  const required = card.capabilities?.extensions.filter((each) => each.required) ?? [];
  const extensions = required.map(({ uri }) => uri);
  let seen: Seen | undefined;
  let startedAt = 0;
  const fetch: typeof globalThis.fetch = async (input, init) => {
    startedAt = performance.now(); // what the client loads for a wire is none of the server's time
    const response = await trial.fetch(input, init);
    const body = await readAtMost(chunksOf(response.body), maxCardBytes);
    const text = isText(response.headers) ? new TextDecoder().decode(body) : undefined;
    seen = { url: String(input), method: init?.method ?? "GET", status: response.status, text };
    return new Response(body && body.length > 0 ? body : null, response);
  };
  try {
    await using agent = await connectAgent(one, {
      ...{ fetch, headers, extensions },
      platform: { ...trial.platform, close: async () => {} }, // others use it, too
    });
    const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    startedAt = performance.now();
    const id = `a2a-doctor-${crypto.randomUUID()}`;
    const error = await agent.rpc.getTask({ id }, { signal: limit }).then(
      () => undefined,
      (thrown: unknown) => ConnectError.from(thrown),
    );
    signal.throwIfAborted();
    const ms = Math.round(performance.now() - startedAt);
    const finding = limit.aborted
      ? find("interface.timeout", `${ms} ms`, trial.at)
      : judgeHealth(error, seen, ms, trial);
    if (wire === undefined) return [finding];
    const browsers = seen !== undefined && aliveIds.has(finding.id) ? [await askAsPage(seen, trial)] : [];
    return [finding, ...(await findOtherAgent(trial)), ...browsers];
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof NoInterfaceError || error instanceof CardInvalidError)) throw error;
    return [
      find("interface.untried", `${served.protocolBinding} ${served.protocolVersion}`.trim(), trial.at),
    ];
  }
}

/** A request, and what has come, where that is a text. A call over gRPC is none. */
interface Seen {
  readonly url: string;
  readonly method: string;
  readonly status: number;
  readonly text: string | undefined;
}

const slowAnswerMs = 2_000;

/** What a server has answered to a GetTask of a task that does not exist. */
function judgeHealth(
  error: ConnectError | undefined,
  seen: Seen | undefined,
  ms: number,
  { card, at }: Trial,
): Finding {
  const { text, status = 0 } = seen ?? {};
  if (error === undefined) return find("interface.any-task", "an answer without error", at);
  const reason = findA2AError(error)?.reason;
  if (reason === "TASK_NOT_FOUND") {
    const isSlow = ms > slowAnswerMs;
    return isSlow ? find("interface.slow", `${ms} ms`, at) : find("interface.answers", undefined, at);
  }
  const { code, rawMessage } = error;
  const evidence = `${reason ?? "no reason"}: ${rawMessage.slice(0, 160)}`;
  const quoting = text ? `${evidence} (${text.slice(0, 120)})` : evidence;
  if (status >= 300 && status < 400) return find("interface.redirect", evidence, at);
  const named = idsByCode.get(reason);
  if (named !== undefined) return find(named, evidence, at);
  if (code === Code.Unauthenticated || code === Code.PermissionDenied) {
    const isDeclared = card.securityRequirements.length > 0;
    return find(isDeclared ? "interface.credentials" : "interface.undeclared-credentials", evidence, at);
  }
  if (code === Code.NotFound) {
    // Without its name the error may as well be a URL that leads nowhere.
    const isOwn = text === undefined || /^\s*\{/.test(text);
    return isOwn ? find("interface.unnamed-errors", quoting, at) : find("interface.nothing", evidence, at);
  }
  if (code === Code.Unimplemented) return find("interface.no-method", evidence, at);
  if (text === undefined && codeOf(error) !== undefined) return findFailure(error, rawMessage, at);
  return find(code === Code.Unavailable ? "interface.unavailable" : "interface.nonsense", quoting, at);
}

/** The card at the host of an interface that is not the card's own. A host of several agents may have none. */
async function findOtherAgent(trial: Trial): Promise<Finding[]> {
  const { served, card, cardUrl, at } = trial;
  const origin = addressOf(served, cardUrl)?.origin;
  if (origin === undefined || cardUrl === undefined || origin === cardUrl.origin) return [];
  const { answer } = await ask(origin + cardPath, trial);
  const other = answer?.status === 200 ? readObject(answer.text ?? "")["name"] : undefined;
  return typeof other !== "string" || other === card.name
    ? []
    : [find("interface.other-agent", `${origin}${cardPath} is the card of ${other}`, at)];
}

/** A page that no server can know: what it may, all pages may. */
const strangersOrigin = "https://a2a-doctor.invalid";

/** Whether pages of other origins may make the same request (CORS). Not every agent is for browsers: at worst a note. */
async function askAsPage({ url, method }: Seen, trial: Trial): Promise<Finding> {
  const preflight = {
    origin: strangersOrigin,
    "access-control-request-method": method,
    "access-control-request-headers": "content-type,a2a-version",
  };
  const { answer } = await ask(url, trial, { method: "OPTIONS", headers: preflight });
  const allowed = (what: string) =>
    answer?.headers.get(`access-control-allow-${what}`)?.toLowerCase() ?? "none";
  const [origin, headers] = [allowed("origin"), allowed("headers")];
  const evidence = `preflight: HTTP ${answer?.status ?? "none"}, allow-origin ${origin}, allow-headers ${headers}`;
  const isRefused = answer === undefined || answer.status >= 300 || !["*", strangersOrigin].includes(origin);
  const hasCookies = origin === strangersOrigin && allowed("credentials") === "true";
  const isHeard = headers.includes("*") || headers.includes("a2a-version");
  if (isRefused) return find("browsers.refused", evidence, trial.at);
  if (hasCookies) return find("browsers.cookies", evidence, trial.at);
  return find(isHeard ? "browsers.allowed" : "browsers.version", evidence, trial.at);
}
