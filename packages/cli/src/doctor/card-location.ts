import { parseJsonMedia, trimSlashes } from "@a2a-connect/core/internal";
import { isObject, parseJson } from "../json.ts";
import { type Finding, type FindingId, find, findAll } from "./findings.ts";
import { type Answer, type Asked, type AskOptions, ask } from "./network.ts";

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

/** Looks for the card where it belongs, then elsewhere, and says what is odd about how it is served. */
export async function locateCard(
  target: URL,
  headers: Readonly<Record<string, string>>,
  options: AskOptions,
): Promise<{ readonly findings: readonly Finding[]; readonly card?: ExaminedCard }> {
  const missed: Finding[] = [];
  for (const { url, meaning } of placesOf(target)) {
    const { answer, failure, redirects } = await follow(url, headers, options);
    // A server that takes connections and never answers would keep us waiting at every place.
    if (failure?.id === "network.timeout") return { findings: [...missed, ...redirects, failure] };
    const card = answer && readAnswer(answer, meaning);
    if (answer !== undefined && card !== undefined) {
      return { findings: [find(meaning, card.url), ...redirects, ...judgeAnswer(answer)], card };
    }
    const why = failure ?? judgeMiss(answer);
    const isPlace = meaning === "card.found" || meaning === "card.elsewhere";
    if (isPlace && !missed.some(({ id }) => id === why.id)) missed.push(...redirects, why);
  }
  return { findings: missed };
}

/** Redirects that are followed to find out what is behind them. */
const maxRedirects = 3;

/** Follows redirects to an answer, or to why there is none. */
async function follow(
  url: string,
  headers: Readonly<Record<string, string>>,
  options: AskOptions,
): Promise<Asked & { readonly redirects: readonly Finding[] }> {
  const init = { headers: { ...headers, accept: "application/json" } };
  const redirects: Finding[] = [];
  for (let at = url; ; ) {
    const asked = await ask(at, options, init);
    const { status = 0 } = asked.answer ?? {};
    const location = asked.answer?.headers.get("location") ?? undefined;
    const next = location === undefined || status < 300 || status > 399 ? null : URL.parse(location, at);
    const isEnd = next === null || !["http:", "https:"].includes(next.protocol);
    if (isEnd || redirects.length === maxRedirects) return { ...asked, redirects };
    redirects.push(find("card.redirect", `HTTP ${status} to ${next.href}`));
    at = next.href;
  }
}

/** The card in an answer. Where a card belongs every object counts as one, to be examined; elsewhere it has to look like one. */
function readAnswer({ url, status, text }: Answer, meaning: Place["meaning"]): ExaminedCard | undefined {
  const json = status === 200 && text !== undefined ? parseJson(text) : undefined;
  if (text === undefined || !isObject(json)) return undefined;
  const isCardLike = "name" in json && ("skills" in json || "supportedInterfaces" in json);
  return isCardLike || meaning !== "card.wrong-path" ? { url, text, json } : undefined;
}

function judgeMiss({ url, status, headers, text }: Answer): Finding {
  const reasons: readonly (readonly [boolean, FindingId])[] = [
    [status === 401 || status === 403, "card.login"],
    [status !== 200, "card.missing"],
    [text === undefined, "card.too-large"],
    [/^\s*</.test(text ?? ""), "card.web-page"],
    [parseJson(text ?? "") === undefined, "card.no-json"],
    [true, "card.no-card"],
  ];
  const [, id = "card.no-card"] = reasons.find(([holds]) => holds) ?? [];
  const type = headers.get("content-type") ?? "no media type";
  return find(id, `${url}: HTTP ${status}, ${type}: ${text?.slice(0, 100) ?? "more than 1 MiB"}`);
}

const largeCard = 64 * 1024;
const slowCardMs = 2_000;

function judgeAnswer({ headers, text = "", ms }: Answer): Finding[] {
  const mediaType = headers.get("content-type");
  return findAll({
    "card.media-type": parseJsonMedia(mediaType) ? [] : [`content-type: ${mediaType ?? "none"}`],
    "card.large": text.length > largeCard ? [`${text.length} characters`] : [],
    "card.slow": ms > slowCardMs ? [`${ms} ms`] : [],
  });
}
