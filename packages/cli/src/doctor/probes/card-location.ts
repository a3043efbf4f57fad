import { parseJsonMedia } from "@a2a-connect/core/internal";
import { formatDuration } from "../../settings/values.ts";
import { type Finding, quote } from "../finding.ts";
import type { HttpAnswer, HttpClient, HttpOutcome } from "../http-client.ts";
import { type NetworkFailure, timeoutCode } from "../network-failure.ts";
import type { CardUrl, Target } from "../target.ts";

/** A card that was found, as text. */
export interface FoundCard {
  readonly url: string;
  readonly text: string;
  /** Parsed; a card is an object, but nobody has looked. */
  readonly json: unknown;
  readonly headers: Headers;
}

/** Where the card is, and what is odd about how it is served. */
export interface LocationReport {
  readonly findings: readonly Finding[];
  readonly card: FoundCard | undefined;
}

/** Redirects that are followed to find out what is behind them. */
const maxRedirects = 3;

/** Looks for the card where it belongs, then where people put it by mistake (spec §8.2). */
export async function probeCardLocation(target: Target, http: HttpClient): Promise<LocationReport> {
  const missed: Finding[] = [];
  for (const place of target.cardUrls) {
    const { outcome, redirects, url } = await follow(place.url, http);
    if (outcome.failure?.code === timeoutCode) {
      // A server that takes connections and never answers would keep us waiting at every place.
      return {
        findings: [...sayMissed(missed), ...redirects, sayTimeout(url, outcome.failure, http)],
        card: undefined,
      };
    }
    const read = readCard(outcome);
    if (read.json !== undefined && isCardLike(read.json, place)) {
      const { answer, json } = read;
      const card = { url: answer.url, text: answer.text, json, headers: answer.headers };
      return { findings: [...judgePlace(place, target), ...redirects, ...judgeAnswer(answer)], card };
    }
    if (place.kind === "asked" || place.kind === "well-known") missed.push(...redirects, read.finding);
  }
  return { findings: sayMissed(missed), card: undefined };
}

/** What a request for a card brought: JSON, or what is wrong with it. */
type ReadCard =
  | { readonly answer: HttpAnswer; readonly json: unknown; readonly finding: Finding }
  | { readonly json?: undefined; readonly finding: Finding };

function sayTimeout(url: string, failure: NetworkFailure, { timeoutMs }: HttpClient): Finding {
  return problem(
    `The server ${failure.what} when it is asked for the card.`,
    `${url}: nothing came within ${formatDuration(timeoutMs)}`,
    failure.fix,
  );
}

function readCard({ answer, failure }: HttpOutcome): ReadCard {
  if (answer === undefined) {
    return {
      finding: problem(
        `The server ${failure.what} when it is asked for the card.`,
        failure.code ?? "",
        failure.fix,
      ),
    };
  }
  const { status, text, complete, url } = answer;
  const evidence = `${url}: HTTP ${status}${mediaOf(answer)}`;
  if (status === 401 || status === 403) {
    return {
      finding: problem(
        "The card is only for callers who say who they are.",
        evidence,
        "Serve the public card to everybody, and secrets as the extended card; or give credentials: --bearer, --api-key.",
      ),
    };
  }
  if (status !== 200) {
    return { finding: problem("There is no card.", evidence, `Serve it there, with status 200.`) };
  }
  if (!complete) {
    return {
      finding: problem(
        "The card is larger than 1 MiB: clients refuse it.",
        evidence,
        "Leave out what callers do not need.",
      ),
    };
  }
  if (/^\s*</.test(text)) {
    return {
      finding: problem(
        "There is a web page in place of the card.",
        `${evidence}: ${quote(text)}`,
        "Route /.well-known/ to the agent before the pages of the site.",
      ),
    };
  }
  try {
    return {
      answer,
      json: JSON.parse(text),
      finding: problem(
        "There is JSON that is no card.",
        `${evidence}: ${quote(text)}`,
        "Serve the agent card there.",
      ),
    };
  } catch (error) {
    const why = error instanceof Error ? quote(error.message) : "";
    return {
      finding: problem(
        "The card is not valid JSON.",
        `${evidence}: ${why}`,
        "Serve it as JSON (RFC 8259), in UTF-8.",
      ),
    };
  }
}

/** Where a card belongs everything counts as one, to be examined; elsewhere it has to look like one. */
function isCardLike(json: unknown, { kind }: CardUrl): boolean {
  if (typeof json !== "object" || json === null || Array.isArray(json)) return false;
  return kind !== "wrong" || ("name" in json && ("skills" in json || "supportedInterfaces" in json));
}

function judgePlace({ url, kind }: CardUrl, target: Target): Finding[] {
  const right = target.cardUrls[0]?.url ?? url;
  switch (kind) {
    case "asked":
      return url.endsWith("/.well-known/agent-card.json")
        ? [
            {
              id: "card.location",
              severity: "ok",
              what: "The card is where clients look for it.",
              evidence: url,
            },
          ]
        : [
            {
              id: "card.location",
              severity: "note",
              what: "There is a card, at a URL that clients have to be told.",
              evidence: url,
              fix: "Serve it at /.well-known/agent-card.json, too.",
            },
          ];
    case "well-known":
      return [
        {
          id: "card.location",
          severity: "ok",
          what: "The card is where clients look for it.",
          evidence: url,
        },
      ];
    case "older":
      return [
        {
          id: "card.location",
          severity: "warning",
          what: "The card is only at the path of older versions: clients of 1.0 need not look there.",
          evidence: url,
          fix: `Serve it at ${right}, too.`,
        },
      ];
    case "wrong":
      return [
        {
          id: "card.location",
          severity: "problem",
          what: "The card is where no client looks for it.",
          evidence: url,
          fix: `Serve it at ${right}.`,
        },
      ];
  }
}

function judgeAnswer(answer: HttpAnswer): Finding[] {
  const findings: Finding[] = [];
  const contentType = answer.headers.get("content-type");
  if (parseJsonMedia(contentType) === undefined) {
    findings.push({
      id: "card.content-type",
      severity: "warning",
      what: "The card is not served as JSON: strict clients refuse it.",
      evidence: `content-type: ${quote(contentType ?? "none")}`,
      fix: "Serve it as application/json.",
    });
  }
  if (answer.text.length > largeCard) {
    findings.push({
      id: "card.size",
      severity: "note",
      what: "The card is large: every client loads all of it.",
      evidence: `${answer.text.length} characters`,
      fix: "Shorten descriptions and examples.",
    });
  }
  if (answer.ms > slowCardMs) {
    findings.push({
      id: "card.speed",
      severity: "note",
      what: "The card takes long.",
      evidence: `${answer.ms} ms`,
      fix: "Serve it from memory; let caches keep it.",
    });
  }
  return findings;
}

const largeCard = 64 * 1024;
const slowCardMs = 2_000;

async function follow(
  url: string,
  http: HttpClient,
): Promise<{ outcome: HttpOutcome; redirects: Finding[]; url: string }> {
  const redirects: Finding[] = [];
  let at = url;
  for (let hop = 0; ; hop++) {
    const outcome = await http.request(at, { headers: { accept: "application/json" } });
    const location = outcome.answer?.headers.get("location");
    const status = outcome.answer?.status ?? 0;
    const next = location == null || status < 300 || status > 399 ? null : URL.parse(location, at);
    if (next === null || !["http:", "https:"].includes(next.protocol) || hop === maxRedirects)
      return { outcome, redirects, url: at };
    redirects.push({
      id: "card.redirect",
      severity: "warning",
      what: "The card's URL redirects: clients that guard against strangers do not follow.",
      evidence: `HTTP ${status} to ${quote(next.href)}`,
      fix: "Answer at the URL itself.",
    });
    at = next.href;
  }
}

function mediaOf({ headers }: HttpAnswer): string {
  const contentType = headers.get("content-type");
  return contentType === null ? "" : `, ${quote(contentType)}`;
}

function problem(what: string, evidence: string, fix: string): Finding {
  return { id: "card.location", severity: "problem", what, fix, ...(evidence === "" ? {} : { evidence }) };
}

/** Several places failing alike are one finding. */
function sayMissed(missed: readonly Finding[]): Finding[] {
  return missed.filter(({ what }, index) => missed.findIndex((other) => other.what === what) === index);
}
