import { parseJsonMedia, trimSlashes } from "@a2a-connect/core/internal";
import { isObject, parseJson } from "../json.ts";
import { formatDuration } from "../settings/values.ts";
import { type Finding, type FindingId, find } from "./findings.ts";
import { type Answer, type AskOptions, ask, findFailure } from "./network.ts";

export interface ExaminedCard {
  /** Where it came from, after redirects; undefined for a file. */
  readonly url: string | undefined;
  readonly text: string;
  readonly json: Readonly<Record<string, unknown>>;
}

/** Where cards of 1.0 are (spec §8.2). */
export const cardPath = "/.well-known/agent-card.json";

/** A place that a card may be at, and what it means that it is there. */
interface Place {
  readonly url: string;
  readonly meaning: "card.found" | "card.elsewhere" | "card.older-path" | "card.wrong-path";
}

/** The right places first, then those where people put it by mistake. */
function placesOf(target: URL): Place[] {
  const { origin, pathname, href } = target;
  if (pathname.endsWith(".json")) {
    return [{ url: href, meaning: pathname.endsWith(cardPath) ? "card.found" : "card.elsewhere" }];
  }
  const base = origin + trimSlashes(pathname);
  const places: Place[] = [
    { url: base + cardPath, meaning: "card.found" },
    { url: origin + cardPath, meaning: "card.found" },
    { url: `${base}/.well-known/agent.json`, meaning: "card.older-path" },
    { url: `${base}/agent-card.json`, meaning: "card.wrong-path" },
    { url: `${base}/agent.json`, meaning: "card.wrong-path" },
    { url: base === origin ? `${base}/` : base, meaning: "card.wrong-path" },
  ];
  return places.filter((place, index) => places.findIndex(({ url }) => url === place.url) === index);
}

export interface LocateOptions extends AskOptions {
  readonly cardHeaders: Readonly<Record<string, string>>;
}

/** Looks for the card where it belongs, then elsewhere, and says what is odd about how it is served. */
export async function locateCard(
  target: URL,
  options: LocateOptions,
): Promise<{ readonly findings: readonly Finding[]; readonly card?: ExaminedCard }> {
  const missed: Finding[] = [];
  for (const { url, meaning } of placesOf(target)) {
    const { answer, redirects, failure } = await follow(url, options);
    // A server that takes connections and never answers would keep us waiting at every place.
    if (failure?.id === "network.timeout") return { findings: [...missed, ...redirects, failure] };
    const json = answer === undefined ? undefined : cardJsonIn(answer);
    if (answer !== undefined && json !== undefined && isCardLike(json, meaning)) {
      const findings = [find(meaning, answer.url), ...redirects, ...judgeAnswer(answer)];
      return { findings, card: { url: answer.url, text: answer.text, json } };
    }
    if (meaning === "card.found" || meaning === "card.elsewhere") {
      const why = failure ?? (answer === undefined ? undefined : judgeMiss(answer));
      if (why !== undefined && !missed.some(({ id }) => id === why.id)) missed.push(...redirects, why);
    }
  }
  return { findings: missed };
}

/** Redirects that are followed to find out what is behind them. */
const maxRedirects = 3;

async function follow(
  url: string,
  options: LocateOptions,
): Promise<{ readonly answer?: Answer; readonly failure?: Finding; readonly redirects: Finding[] }> {
  const redirects: Finding[] = [];
  for (let at = url; ; ) {
    let answer: Answer;
    try {
      answer = await ask(at, options, { headers: { ...options.cardHeaders, accept: "application/json" } });
    } catch (error) {
      options.signal.throwIfAborted();
      const waited = `${at}: nothing came within ${formatDuration(options.timeoutMs)}`;
      const failure = findFailure(error, at);
      return { failure: failure.id === "network.timeout" ? find(failure.id, waited) : failure, redirects };
    }
    const { status, headers } = answer;
    const location = headers.get("location");
    const next = location === null || status < 300 || status > 399 ? null : URL.parse(location, at);
    const isEnd = next === null || !["http:", "https:"].includes(next.protocol);
    if (isEnd || redirects.length === maxRedirects) return { answer, redirects };
    redirects.push(find("card.redirect", `HTTP ${status} to ${next.href}`));
    at = next.href;
  }
}

function cardJsonIn({ status, text, isWhole }: Answer): ExaminedCard["json"] | undefined {
  const json = status === 200 && isWhole ? parseJson(text) : undefined;
  return isObject(json) ? json : undefined;
}

/** Where a card belongs every object counts as one, to be examined; elsewhere it has to look like one. */
function isCardLike(json: ExaminedCard["json"], meaning: Place["meaning"]): boolean {
  return (
    meaning !== "card.wrong-path" || ("name" in json && ("skills" in json || "supportedInterfaces" in json))
  );
}

function judgeMiss({ url, status, headers, text, isWhole }: Answer): Finding {
  const reasons: readonly (readonly [boolean, FindingId])[] = [
    [status === 401 || status === 403, "card.login"],
    [status !== 200, "card.missing"],
    [!isWhole, "card.too-large"],
    [/^\s*</.test(text), "card.web-page"],
    [parseJson(text) === undefined, "card.no-json"],
    [true, "card.no-card"],
  ];
  const [, id = "card.no-card"] = reasons.find(([holds]) => holds) ?? [];
  const type = headers.get("content-type") ?? "no media type";
  return find(id, `${url}: HTTP ${status}, ${type}: ${text.slice(0, 100)}`);
}

const largeCard = 64 * 1024;
const slowCardMs = 2_000;

function judgeAnswer({ headers, text, ms }: Answer): Finding[] {
  const mediaType = headers.get("content-type");
  const flaws: readonly (readonly [boolean, FindingId, string])[] = [
    [parseJsonMedia(mediaType) === undefined, "card.media-type", `content-type: ${mediaType ?? "none"}`],
    [text.length > largeCard, "card.large", `${text.length} characters`],
    [ms > slowCardMs, "card.slow", `${ms} ms`],
  ];
  return flaws.flatMap(([holds, id, evidence]) => (holds ? [find(id, evidence)] : []));
}
