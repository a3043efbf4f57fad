import {
  type Freshness,
  findMissingFields,
  formatMessage,
  longestLifetimeMs,
  longestVerifiedLifetimeMs,
  readFreshness,
  SharedRequest,
  shownUrl,
  type Timer,
  withinTime,
} from "@a2a-connect/core/internal";
import { type AgentCard, AgentCardSchema } from "@a2a-connect/proto";
import { isMessage, type JsonObject } from "@bufbuild/protobuf";
import { CardInvalidError, CardNotFoundError } from "../errors.ts";
import { agentFetch } from "../interface/agent-fetch.ts";
import { wasNeverSent } from "../interface/never-sent.ts";
import type { AgentReference, ConnectOptions, ReceivedCard } from "../options.ts";
import type { ClientSettings } from "../settings.ts";
import { resolveSettings } from "../settings.ts";
import { findCardUrls } from "./card-reference.ts";
import { type CardVerdict, judgeCard } from "./card-verdict.ts";
import type { CardValidators } from "./fetch-card.ts";
import { readCard } from "./read-card.ts";
import { fetchCardRepeatedly, type LastingAnswer } from "./repeat-fetch.ts";

/** A card that was found, read and judged. */
export interface ResolvedCard {
  readonly card: AgentCard;
  /** What is unusual about it, a sentence each. */
  readonly warnings: readonly string[];
  /** Where it came from, after redirects; undefined for a card from the caller. */
  readonly url: string | undefined;
  /** The URL that was fetched, before redirects; undefined for a card from the caller. */
  readonly asked: string | undefined;
  /** Its JSON as received; for a message from the caller, its ProtoJSON. */
  readonly text: string;
}

/**
 * The source of an agent's card. It returns the same object as long as the card is the same. It verifies the card each
 * time it asked the agent, and also before it returns the card when the last verification is more than 5 minutes old,
 * because keys expire. After a refusal it asks the agent again each time.
 *
 * All methods reject with CardRefusedError when `verifyCard` refuses the card, and with the reason of an aborted
 * signal. Those that ask the agent also reject with CardNotFoundError, CardInvalidError, UnreachableError, and UntrustedOutputError when
 * `inspect` refuses the card. Calls at the same time share one request.
 */
export interface CardResolver {
  /** The card: the known one while it is fresh by its cache headers (requirement L-6) and trusted. */
  resolve(signal?: AbortSignal): Promise<ResolvedCard>;
  /** The agent's current card: the known one is confirmed or replaced, fresh or not. */
  refresh(signal?: AbortSignal): Promise<ResolvedCard>;
  /** The known card, fresh or not: for when the agent has no other. Call it only when there is one. */
  recall(signal?: AbortSignal): Promise<ResolvedCard>;
}

/**
 * A resolver for an agent by its address or its card (see `findCardUrls`). It asks a failing server again (`retry`).
 * `connectTimeoutMs` limits all requests together: URLs, redirects, bodies and repetitions, but not the time that
 * `verifyCard` and `inspect` take.
 *
 * @throws CardNotFoundError when the reference is no address
 * @throws Error when `untrusted` is set on a platform without a guard
 */
export function createCardResolver(reference: AgentReference, options: ConnectOptions): CardResolver {
  if ((reference ?? "") === "") {
    throw new CardNotFoundError("", "connectAgent was given no agent.", {
      hint: "Give a host, the URL of the agent or of its card, or the card itself.",
    });
  }
  return typeof reference === "string" || reference instanceof URL
    ? new FetchingResolver(findCardUrls(reference), options)
    : new GivenCard(reference, options);
}

/**
 * The JSON of an agent's card, and where it came from: found as a resolver finds it, but neither read nor judged.
 *
 * @throws CardNotFoundError, UnreachableError; CardInvalidError for what is no text or too large; the signal's reason
 */
export async function findCardText(
  reference: string,
  options: ConnectOptions,
  signal: AbortSignal,
): Promise<FoundText> {
  return await new FetchingResolver(findCardUrls(reference), options).findText(signal);
}

type FoundText = Pick<ResolvedCard, "text"> & { readonly url: string };

async function readGivenCard(card: AgentCard | JsonObject): Promise<ResolvedCard> {
  if (!isMessage(card, AgentCardSchema)) {
    const given = JSON.stringify(card);
    return { ...(await readCard(given, "The given card")), url: undefined, asked: undefined, text: given };
  }
  const problems = findMissingFields(AgentCardSchema, card).map(
    ({ field, description }) => `${field}: ${description}`,
  );
  if (problems.length > 0) {
    throw new CardInvalidError(`The given card cannot be used: ${problems.join(", ")}.`, problems, {
      hint: "Fill in what is missing before connecting.",
    });
  }
  const text = JSON.stringify(formatMessage(AgentCardSchema, card));
  return { card, warnings: [], url: undefined, asked: undefined, text };
}

/** Read and inspected once, for the first call that asks, and verified like a fetched card. */
class GivenCard implements CardResolver {
  readonly #card: AgentCard | JsonObject;
  readonly #options: ConnectOptions;
  #given: Promise<ResolvedCard> | undefined;
  #judged: Promise<CardVerdict> | undefined;

  constructor(card: AgentCard | JsonObject, options: ConnectOptions) {
    this.#card = card;
    this.#options = options;
  }

  async resolve(signal?: AbortSignal): Promise<ResolvedCard> {
    this.#given ??= readGivenCard(this.#card);
    const given = await this.#given;
    this.#judged ??= this.#judge(given);
    const verdict = await this.#judged;
    await verdict.confirm(signal);
    return given;
  }

  refresh(signal?: AbortSignal): Promise<ResolvedCard> {
    return this.resolve(signal);
  }

  recall(signal?: AbortSignal): Promise<ResolvedCard> {
    return this.resolve(signal);
  }

  async #judge(given: ResolvedCard): Promise<CardVerdict> {
    try {
      return await judgeCard(toReceived(given), this.#options, resolveSettings(this.#options).clock);
    } catch (error) {
      this.#judged = undefined; // the next call may get another result
      throw error;
    }
  }
}

/** A response, and its request. */
interface FoundCard {
  readonly answer: Exclude<LastingAnswer, AbsentCard>;
  /** The URL that was fetched, before redirects. */
  readonly asked: URL;
  readonly requestedAtMs: number;
}

type AbsentCard = Extract<LastingAnswer, { readonly kind: "absent" }>;

/** A cached card, and what is known of its response. */
interface KeptCard extends Freshness {
  readonly resolved: ResolvedCard;
  readonly verdict: CardVerdict;
  /** The URL that was fetched, before redirects. */
  readonly asked: URL;
  /** Header fields of the response that brought the card, updated by each response that confirmed it. */
  readonly headers: Headers;
}

class FetchingResolver implements CardResolver {
  readonly #urls: readonly URL[];
  readonly #options: ConnectOptions;
  readonly #settings: Pick<ClientSettings, "clock" | "retry">;
  readonly #fetch: typeof globalThis.fetch;
  readonly #requests = new SharedRequest<ResolvedCard>();
  #kept: KeptCard | undefined;

  constructor(urls: readonly URL[], options: ConnectOptions) {
    this.#urls = urls;
    this.#options = options;
    this.#settings = resolveSettings(options);
    this.#fetch = agentFetch(options, urls[0]);
  }

  async resolve(signal?: AbortSignal): Promise<ResolvedCard> {
    signal?.throwIfAborted();
    const kept = this.#kept;
    const isFresh = kept !== undefined && this.#settings.clock.now() < kept.freshUntilMs;
    return isFresh && (await this.#isTrusted(kept, signal)) ? kept.resolved : await this.refresh(signal);
  }

  async recall(signal?: AbortSignal): Promise<ResolvedCard> {
    assert(this.#kept !== undefined, "a card is known");
    const { verdict, resolved } = this.#kept;
    await verdict.confirm(signal);
    return resolved;
  }

  refresh(signal?: AbortSignal): Promise<ResolvedCard> {
    return this.#requests.join((shared) => this.#renew(shared), signal);
  }

  async findText(signal: AbortSignal): Promise<FoundText> {
    const { answer } = await this.#searchInTime(signal);
    assert(answer.kind === "text", "only a card that is kept can be unchanged");
    return { text: answer.text, url: answer.url.href };
  }

  /** Verifies the cached card. When it is refused, the agent is asked whether it has a newer one. */
  async #isTrusted(kept: KeptCard, signal: AbortSignal | undefined): Promise<boolean> {
    try {
      await kept.verdict.confirm(signal);
      return true;
    } catch {
      signal?.throwIfAborted();
      return false;
    }
  }

  /** Judging has no time limit, because a person may be asked. */
  async #renew(signal: AbortSignal): Promise<ResolvedCard> {
    const found = await this.#searchInTime(signal);
    const kept = await this.#take(found).catch((error: unknown) => {
      this.#doubt();
      throw error;
    });
    signal.throwIfAborted(); // no call waits for it any more; it must not overwrite a newer card
    this.#kept = kept;
    return kept.resolved;
  }

  /** The agent has another card now, which is refused or unusable: so the known one no longer counts as fresh. */
  #doubt(): void {
    if (this.#kept !== undefined) {
      this.#kept = { ...this.#kept, freshUntilMs: Number.NEGATIVE_INFINITY };
    }
  }

  async #searchInTime(signal: AbortSignal): Promise<FoundCard> {
    const { connectTimeoutMs = 10_000 } = this.#options;
    const { clock } = this.#settings;
    const deadlineMs = clock.now() + connectTimeoutMs;
    const late = new DOMException(`not done within ${connectTimeoutMs} ms`, "TimeoutError");
    const timer: Timer = (ms, tick) => {
      const done = new AbortController();
      clock.sleep(ms, done.signal).then(tick, () => {}); // it ended in time
      return () => done.abort();
    };
    const search = (limited: AbortSignal) => this.#search(deadlineMs, limited);
    try {
      return await withinTime(connectTimeoutMs, late, search, { signal, timer });
    } catch (error) {
      const [url] = this.#urls;
      if (error !== late || url === undefined) {
        throw error;
      }
      const message = `${shownUrl(url)} gave no card in time (${connectTimeoutMs} ms).`;
      const hint = "Check that the server is up, or raise `connectTimeoutMs`.";
      throw new CardNotFoundError(shownUrl(url), message, { hint, cause: error });
    }
  }

  /** Asks one URL after the other, first the one that had the card last time. */
  async #search(deadlineMs: number, signal: AbortSignal): Promise<FoundCard> {
    const known = this.#kept?.asked;
    const urls = known === undefined ? this.#urls : [known, ...this.#urls.filter((url) => url !== known)];
    const absent: AbsentCard[] = [];
    for (const asked of urls) {
      const requestedAtMs = this.#settings.clock.now();
      const answer = await this.#ask(asked, deadlineMs, signal);
      if (answer.kind !== "absent") {
        return { answer, asked, requestedAtMs };
      }
      absent.push(answer);
    }
    throw notThere(absent);
  }

  async #ask(url: URL, deadlineMs: number, signal: AbortSignal): Promise<LastingAnswer> {
    const { headers = {}, maxCardBytes = 1024 * 1024 } = this.#options;
    const request = { url, fetch: this.#fetch, headers, maxBytes: maxCardBytes, signal };
    const kept = this.#kept?.asked === url && this.#kept.storable ? this.#kept : undefined;
    const validators = kept === undefined ? undefined : validatorsOf(kept.headers);
    try {
      return await fetchCardRepeatedly({ ...request, validators }, deadlineMs, this.#settings);
    } catch (error) {
      const failed = error instanceof CardNotFoundError && error.cause !== undefined;
      if (validators === undefined || !failed || wasNeverSent(error) || signal.aborted) {
        throw error;
      }
      // Servers that let pages of other origins read the card need not allow the headers of a conditional request
      // (CORS).
      return await fetchCardRepeatedly(request, deadlineMs, this.#settings);
    }
  }

  async #take({ answer, asked, requestedAtMs }: FoundCard): Promise<KeptCard> {
    const before = this.#kept;
    if (answer.kind === "unchanged") {
      assert(before !== undefined, "only a card that is kept can be unchanged");
      await before.verdict.renew();
      const headers = new Headers(before.headers);
      headers.delete("age"); // that of the response that confirms the card, or of none
      answer.headers.forEach((value, name) => {
        headers.set(name, value);
      });
      return { ...before, headers, ...this.#freshnessOf(headers, requestedAtMs) };
    }
    const { text, url, headers } = answer;
    const freshness = this.#freshnessOf(headers, requestedAtMs);
    if (before?.resolved.text === text && before.resolved.url === url.href && before.asked === asked) {
      // It was inspected before. The same object tells callers that nothing changed.
      await before.verdict.renew();
      return { ...before, headers, ...freshness };
    }
    const turn = this.#options.platform?.turn?.(url.origin);
    if (turn !== undefined) await turn;
    const read = await readCard(text, `The card at ${shownUrl(url)}`);
    const resolved = { ...read, url: url.href, asked: asked.href, text };
    const verdict = await judgeCard(toReceived(resolved), this.#options, this.#settings.clock);
    return { resolved, verdict, asked, headers, ...freshness };
  }

  #freshnessOf(headers: Headers, requestedAtMs: number): Freshness {
    const { cardTtlMs = 5 * 60_000, verifyCard } = this.#options;
    const longestMs = verifyCard === undefined ? longestLifetimeMs : longestVerifiedLifetimeMs;
    return readFreshness(headers, requestedAtMs, cardTtlMs, longestMs);
  }
}

function validatorsOf(headers: Headers): CardValidators | undefined {
  const [etag, lastModified] = [headers.get("etag"), headers.get("last-modified")];
  return etag === null && lastModified === null ? undefined : { etag, lastModified };
}

/** The error when no URL has the card. A web page in its place explains more than a 404. */
function notThere(absent: readonly AbsentCard[]): CardNotFoundError {
  const page = absent.find(({ webPage }) => webPage);
  const [first, ...others] = absent.map(({ error }) => error);
  assert(first !== undefined, "there is a place to look for a card");
  if (page !== undefined || others.length === 0) {
    return page?.error ?? first;
  }
  const { url, message, hint } = first;
  const elsewhere = others.map((error) => error.url).join(" or ");
  return new CardNotFoundError(
    url,
    `${message} Nor was there one at ${elsewhere}.`,
    hint === undefined ? {} : { hint },
  );
}

function toReceived({ url, asked, text, card }: ResolvedCard): ReceivedCard {
  return { url, asked, text, card, extended: false };
}

function assert(condition: boolean, what: string): asserts condition {
  if (!condition) {
    throw new Error(`this cannot be: not that ${what}`);
  }
}
