import { CardInvalidError, NoInterfaceError } from "@a2a-connect/client";
import type { CardJson, FindOptions, FoundServer, Wire } from "@a2a-connect/conformance";
import { findA2AError } from "@a2a-connect/core";
import { formatMessage, isLoopbackHost } from "@a2a-connect/core/internal";
import { connectAgent, nodePlatform } from "@a2a-connect/node/client";
import { A2AService, type AgentCard, AgentCardSchema, type AgentInterface } from "@a2a-connect/proto";
import { type Client, Code, ConnectError } from "@connectrpc/connect";
import { codeOf } from "../cli-error.ts";
import { readObject } from "../json.ts";
import { cardPath } from "./card-location.ts";
import { type Finding, type FindingId, find } from "./findings.ts";
import { type AskOptions, ask, findFailure } from "./network.ts";

export interface TryOptions extends AskOptions {
  /** Finds the server of a card with one interface. @throws Error when it has none that can be called */
  readonly findServer: (url: string, options: FindOptions) => Promise<FoundServer>;
  readonly find: FindOptions;
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
}

interface Tried {
  readonly findings: readonly Finding[];
  /** Where the conformance kit knows it. */
  readonly wire?: Wire;
  readonly isAlive: boolean;
}

/** Asks every interface for a task that does not exist: TASK_NOT_FOUND is the answer of a healthy server. */
export async function tryInterfaces(
  card: AgentCard,
  json: CardJson,
  cardUrl: URL | undefined,
  options: TryOptions,
): Promise<TriedInterfaces> {
  const { supportedInterfaces } = json;
  const declared: readonly unknown[] = Array.isArray(supportedInterfaces) ? supportedInterfaces : [];
  const tryOne = async (
    served: AgentInterface,
    index: number,
  ): Promise<Tried & { readonly label: string }> => {
    const label = labelOf(served);
    const address = judgeAddress(served, cardUrl).map((id) => find(id, served.url, [label]));
    if (address.some(({ id }) => id === "interface.url")) return { findings: address, isAlive: false, label };
    const one = { ...json, supportedInterfaces: [declared[index]] };
    const trial: Trial = { ...options, served, card, cardUrl, at: [label] };
    const { findings, ...outcome } = await tryInterface(trial, one);
    return { findings: [...address, ...findings], ...outcome, label };
  };
  const tried = await Promise.all(card.supportedInterfaces.slice(0, maxTried).map(tryOne));
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

/** What an interface is called in findings; two of one binding differ by their version. */
function labelOf({ protocolBinding, protocolVersion }: AgentInterface): string {
  const name =
    /^urn:a2a-connect:binding:([a-z-]+):v1$/.exec(protocolBinding)?.[1] ?? protocolBinding.slice(0, 100);
  return protocolVersion === "1.0" ? name : `${name} ${protocolVersion.slice(0, 20)}`;
}

/** What the interface's address gives away. */
export function judgeAddress(
  { url, protocolBinding }: Pick<AgentInterface, "url" | "protocolBinding">,
  cardUrl: URL | undefined,
): FindingId[] {
  const isBare = protocolBinding === "GRPC" && !url.includes("://");
  const { hostname, protocol } = URL.parse(isBare ? `http://${url}` : url) ?? { hostname: "", protocol: "" };
  if (hostname === "" && ["GRPC", "JSONRPC", "HTTP+JSON"].includes(protocolBinding)) return ["interface.url"];
  if (hostname === "" || cardUrl === undefined || isLoopbackHost(cardUrl.hostname)) return [];
  if (isLoopbackHost(hostname)) return ["interface.own-machine"];
  return cardUrl.protocol === "https:" && protocol === "http:" && !isBare ? ["interface.cleartext"] : [];
}

async function tryInterface(trial: Trial, json: CardJson): Promise<Tried> {
  const { served, cardUrl, signal } = trial;
  const base = cardUrl?.href ?? URL.parse(served.url)?.href ?? "http://localhost/";
  let server: FoundServer;
  try {
    server = await trial.findServer(base, { ...trial.find, card: json });
  } catch {
    signal.throwIfAborted();
    const finding = await tryByClient(trial);
    return { findings: [finding], isAlive: aliveIds.has(finding.id) };
  }
  using found = server;
  for (const [wire, address] of found.addresses) {
    let seen: Response | undefined;
    const onResponse = (response: Response): void => {
      seen = response;
    };
    const health = await askForTask(trial, (limit) =>
      found.target({ signal: limit }).client(wire, { onResponse }),
    );
    const response = seen === undefined ? undefined : { status: seen.status, body: await seen.text() };
    const finding = judgeHealth({ ...health, response }, trial);
    const isAlive = aliveIds.has(finding.id);
    const browsers = isAlive && wire !== "grpc" ? [await askAsPage(wire, address, trial)] : [];
    return { findings: [finding, ...(await findOtherAgent(address, trial)), ...browsers], wire, isAlive };
  }
  return { findings: [], isAlive: false };
}

/** An interface that the conformance kit does not know. The client knows those of A2A 0.3 and 0.2. */
async function tryByClient(trial: Trial): Promise<Finding> {
  const { served, card, cardUrl, at, fetch, insecure, find: asked } = trial;
  const one = { ...card, supportedInterfaces: [served] };
  const json = formatMessage(AgentCardSchema, one) as CardJson; // a card is an object
  const headers = typeof asked.headers === "function" ? asked.headers(json) : (asked.headers ?? {});
  const platform = nodePlatform({ tls: { insecure }, ...(cardUrl && { cardUrl }) });
  try {
    await using agent = await connectAgent(one, { fetch, headers, platform });
    return judgeHealth(await askForTask(trial, () => agent.rpc), trial);
  } catch (error) {
    trial.signal.throwIfAborted();
    if (!(error instanceof NoInterfaceError || error instanceof CardInvalidError)) throw error;
    return find("interface.untried", `${served.protocolBinding} ${served.protocolVersion}`.trim(), at);
  } finally {
    await platform.close();
  }
}

/** Findings after which it makes sense to go on with an interface. */
const aliveIds: ReadonlySet<string> = new Set<FindingId>([
  "interface.answers",
  "interface.slow",
  "interface.any-task",
  "interface.unnamed-errors",
]);

/** What came of a GetTask of a task that does not exist. */
interface Health {
  readonly error: ConnectError | undefined;
  /** Of the two JSON wires, where the server has answered. */
  readonly response?: { readonly status: number; readonly body: string } | undefined;
  readonly isLate: boolean;
  readonly ms: number;
}

async function askForTask(
  { signal, timeoutMs }: Trial,
  open: (limit: AbortSignal) => Pick<Client<typeof A2AService>, "getTask">,
): Promise<Health> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  const startedAt = performance.now();
  const id = `a2a-doctor-${crypto.randomUUID()}`;
  const error = await open(limit)
    .getTask({ id }, { signal: limit })
    .then(
      () => undefined,
      (thrown: unknown) => ConnectError.from(thrown),
    );
  signal.throwIfAborted();
  return { error, isLate: limit.aborted, ms: Math.round(performance.now() - startedAt) };
}

const slowAnswerMs = 2_000;

const findingsByReason: Readonly<Record<string, FindingId>> = {
  TASK_NOT_FOUND: "interface.answers",
  VERSION_NOT_SUPPORTED: "interface.version-refused",
  EXTENSION_SUPPORT_REQUIRED: "interface.extension",
};

function judgeHealth({ error, response, isLate, ms }: Health, { card, at }: Trial): Finding {
  const reason = findA2AError(error)?.reason;
  const http = response === undefined ? "" : `HTTP ${response.status}, `;
  const said =
    error === undefined ? "an answer without error" : `${reason ?? "no reason"}: ${error.rawMessage}`;
  const evidence = `${http}${said.slice(0, 160)}`;
  const quoting = response === undefined ? evidence : `${evidence} (${response.body.slice(0, 120)})`;
  if (isLate) return find("interface.timeout", `${ms} ms`, at);
  if (error === undefined) return find("interface.any-task", evidence, at);
  const named = reason === undefined ? undefined : findingsByReason[reason];
  if (reason === "TASK_NOT_FOUND" && ms > slowAnswerMs) return find("interface.slow", `${ms} ms`, at);
  if (named !== undefined) return find(named, reason === "TASK_NOT_FOUND" ? undefined : evidence, at);
  if (error.code === Code.Unauthenticated || error.code === Code.PermissionDenied) {
    const isDeclared = card.securityRequirements.length > 0;
    return find(isDeclared ? "interface.credentials" : "interface.undeclared-credentials", evidence, at);
  }
  if (error.code === Code.NotFound) {
    // Without its name the error may as well be a URL that leads nowhere.
    const isOwn = response === undefined || /^\s*\{/.test(response.body);
    return isOwn ? find("interface.unnamed-errors", quoting, at) : find("interface.nothing", evidence, at);
  }
  if (error.code === Code.Unimplemented) return find("interface.no-method", evidence, at);
  if (response === undefined && codeOf(error) !== undefined) return findFailure(error, error.rawMessage, at);
  return find(error.code === Code.Unavailable ? "interface.unavailable" : "interface.nonsense", quoting, at);
}

/** The card at the host of an interface that is not the card's own. A host of several agents may have none. */
async function findOtherAgent(address: string, trial: Trial): Promise<Finding[]> {
  const { card, cardUrl, at } = trial;
  const origin = URL.parse(address)?.origin;
  if (origin === undefined || cardUrl === undefined || origin === cardUrl.origin) return [];
  const there = await ask(origin + cardPath, trial).catch(() => undefined);
  trial.signal.throwIfAborted();
  const other = there?.status === 200 ? readObject(there.text)["name"] : undefined;
  return typeof other !== "string" || other === card.name
    ? []
    : [find("interface.other-agent", `${origin}${cardPath} is the card of ${other}`, at)];
}

/** A page that no server can know: what it may, all pages may. */
const strangersOrigin = "https://a2a-doctor.invalid";

/** Whether pages of other origins may call (CORS). Not every agent is for browsers: at worst a note. */
async function askAsPage(wire: Exclude<Wire, "grpc">, address: string, trial: Trial): Promise<Finding> {
  const rpcPath = `/${A2AService.typeName}/SendMessage`;
  const path = { jsonrpc: "", "http-json": "/message:send", connect: rpcPath, "grpc-web": rpcPath }[wire];
  const preflight = {
    origin: strangersOrigin,
    "access-control-request-method": "POST",
    "access-control-request-headers": "content-type,a2a-version",
  };
  const asking = ask(address + path, trial, { method: "OPTIONS", headers: preflight });
  const answer = await asking.catch(() => undefined);
  trial.signal.throwIfAborted();
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
