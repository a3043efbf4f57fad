import type { BindingTransport } from "@a2a-connect/client/internal";
import type { AgentCard, AgentInterface } from "@a2a-connect/proto";
import type { CardTrust, OwnOriginTrust } from "../agent/trust.ts";
import type { Examination, Probe } from "./examination.ts";
import { type Finding, mergeFindings } from "./finding.ts";
import { createHttpClient, type HttpClient } from "./http-client.ts";
import type { Authentication } from "./interface-calls.ts";
import { browserProbe } from "./probes/browsers.ts";
import { capabilityProbe } from "./probes/capabilities.ts";
import { probeCardCaching } from "./probes/card-caching.ts";
import { probeCardFields } from "./probes/card-fields.ts";
import { type FoundCard, probeCardLocation } from "./probes/card-location.ts";
import { probeDeclarations } from "./probes/declarations.ts";
import { errorProbe } from "./probes/errors.ts";
import { probeInterfaces } from "./probes/interfaces.ts";
import { probeNetwork } from "./probes/network.ts";
import { securityProbe } from "./probes/security.ts";
import { probeSignatures, sayUnverified } from "./probes/signatures.ts";
import { probeSkills } from "./probes/skills.ts";
import { versionProbe } from "./probes/versions.ts";
import type { Target } from "./target.ts";

/** What an agent is examined with. */
export interface ExamineOptions {
  readonly fetch: typeof globalThis.fetch;
  /** The wires that can be called. */
  readonly transports: readonly BindingTransport[];
  /** The user's credentials, once the card has said where they go. */
  readonly credentials: (card: AgentCard, served: AgentInterface) => Authentication;
  /** Sent with the requests for the card. */
  readonly cardHeaders: Readonly<Record<string, string>>;
  /** For each single request. */
  readonly timeoutMs: number;
  /** Whether to go on with servers whose certificate is not trusted; `fetch` and `transports` have to, too. */
  readonly insecure: boolean;
  /** The keys that should have signed the card. Default: none is known. */
  readonly trust?: CardTrust | undefined;
  /** What the key set of the card's own origin has to say about it, where no key is known. Default: nobody asks it. */
  readonly ownOrigin?: OwnOriginTrust | undefined;
  readonly signal: AbortSignal;
  /** Told each finding as soon as it is there, in the order of the examination. */
  readonly onFinding?: (finding: Finding) => Promise<void>;
}

/** What was found. */
export interface Diagnosis {
  readonly findings: readonly Finding[];
  /** Where the card was. */
  readonly cardUrl: string | undefined;
  /** The card, where it can be read. */
  readonly card: AgentCard | undefined;
}

/** Bytes of a card that clients accept. */
const maxCardBytes = 1024 * 1024;

const probes: readonly Probe[] = [errorProbe, versionProbe, capabilityProbe, securityProbe, browserProbe];

/**
 * Examines an agent from the network up to its capabilities. Only asks: for its card, and for tasks that do not exist.
 *
 * @throws the signal's reason when it is aborted
 */
export async function examine(target: Target, options: ExamineOptions): Promise<Diagnosis> {
  const { fetch, timeoutMs, signal } = options;
  const log = new FindingLog(options.onFinding);
  const network = await probeNetwork(target.url, options);
  await log.add(network.findings);
  if (!network.reachable) return log.close();
  const http = createHttpClient({ fetch, timeoutMs, maxBytes: maxCardBytes, signal });
  const location = await probeCardLocation(target, withHeaders(http, options.cardHeaders));
  await log.add(location.findings);
  if (location.card === undefined) return log.close();
  await log.add(await probeCardCaching(location.card, withHeaders(http, options.cardHeaders)));
  return await examineCard(location.card, location.card, { ...options, http, log });
}

/**
 * Examines a card that is at hand, and the servers that it names. Those of a card that is not verified, although a key is known,
 * get no question: whoever changed the card may have chosen them, and they would be told credentials.
 */
export async function examineCardText(given: CardText, options: ExamineOptions): Promise<Diagnosis> {
  const { fetch, timeoutMs, signal } = options;
  const http = createHttpClient({ fetch, timeoutMs, maxBytes: maxCardBytes, signal });
  return await examineCard(given, undefined, { ...options, http, log: new FindingLog(options.onFinding) });
}

/** A card as text, and what that is as JSON. */
export type CardText = Pick<FoundCard, "text" | "json">;

async function examineCard(
  { text, json }: CardText,
  found: FoundCard | undefined,
  options: ExamineOptions & { readonly http: HttpClient; readonly log: FindingLog },
): Promise<Diagnosis> {
  const { log, http } = options;
  const fields = probeCardFields(json);
  await log.add(fields.findings);
  const { card } = fields;
  if (card === undefined) return log.close(found);
  const verification = await options.trust?.verify(text);
  const signed = { card, text, url: found?.url };
  await log.add([
    ...probeDeclarations(card),
    ...(await probeSignatures(signed, verification, options.ownOrigin)),
    ...probeSkills(card),
  ]);
  if (verification?.verified === false) {
    await log.add([sayUnverified()]);
    return log.close(found, card);
  }
  const cardUrl = found === undefined ? undefined : new URL(found.url);
  const interfaces = await probeInterfaces(card, cardUrl, {
    ...options,
    credentials: (served) => options.credentials(card, served),
  });
  try {
    await log.add(interfaces.findings);
    const { live } = interfaces;
    for (const probe of live.length === 0 ? [] : probes) {
      await log.add(await run(probe, { card, http, live }, options.signal));
    }
  } finally {
    for (const { calls } of interfaces.live) calls[Symbol.dispose]();
  }
  return log.close(found, card);
}

/** A probe that fails is our fault, and must not hide what the others find. */
async function run(probe: Probe, examination: Examination, signal: AbortSignal): Promise<readonly Finding[]> {
  try {
    return await probe.run(examination);
  } catch (error) {
    signal.throwIfAborted();
    return [
      {
        id: `${probe.id}.unfinished`,
        severity: "warning",
        what: "This could not be examined to the end.",
        evidence: error instanceof Error ? error.message : String(error),
      },
    ];
  }
}

class FindingLog {
  readonly #findings: Finding[] = [];
  readonly #onFinding: ((finding: Finding) => Promise<void>) | undefined;

  constructor(onFinding: ((finding: Finding) => Promise<void>) | undefined) {
    this.#onFinding = onFinding;
  }

  async add(findings: readonly Finding[]): Promise<void> {
    for (const finding of mergeFindings(findings)) {
      this.#findings.push(finding);
      await this.#onFinding?.(finding);
    }
  }

  close(found?: FoundCard, card?: AgentCard): Diagnosis {
    return { findings: this.#findings, cardUrl: found?.url, card };
  }
}

function withHeaders(http: HttpClient, added: Readonly<Record<string, string>>): HttpClient {
  return {
    ...http,
    request: (url, init = {}) => {
      const headers = new Headers(init.headers);
      for (const [name, value] of Object.entries(added)) headers.set(name, value);
      return http.request(url, { ...init, headers });
    },
  };
}
