import { type Finding, quote } from "../finding.ts";
import type { HttpClient } from "../http-client.ts";
import type { FoundCard } from "./card-location.ts";

/** Whether clients can keep the card, and learn cheaply that it has changed (requirement L-5). */
export async function probeCardCaching(card: FoundCard, http: HttpClient): Promise<Finding[]> {
  const { headers, url } = card;
  const findings = [judgeCacheControl(headers.get("cache-control"))];
  const etag = headers.get("etag");
  const modified = headers.get("last-modified");
  if (etag === null && modified === null) {
    findings.push({
      id: "card.etag",
      severity: "warning",
      what: "The card has no ETag: clients load all of it again to learn that nothing has changed.",
      fix: "Send an ETag made of the card's content, and answer If-None-Match with 304.",
    });
    return findings;
  }
  const condition = etag === null ? { "if-modified-since": modified ?? "" } : { "if-none-match": etag };
  const { answer } = await http.request(url, { headers: { accept: "application/json", ...condition } });
  const evidence = `${Object.entries(condition)
    .map((entry) => entry.join(": "))
    .join()}: HTTP ${answer?.status ?? "none"}`;
  findings.push(
    answer?.status === 304
      ? {
          id: "card.etag",
          severity: "ok",
          what: "Clients learn with a 304 that the card has not changed.",
          evidence,
        }
      : {
          id: "card.etag",
          severity: "warning",
          what: "The card says which version it is, but asking for a newer one brings all of it again.",
          evidence: quote(evidence),
          fix: "Answer If-None-Match with 304 when the ETag is the same.",
        },
  );
  return findings;
}

function judgeCacheControl(value: string | null): Finding {
  const maxAge = /(?:^|[\s,])max-age\s*=\s*"?(\d+)/i.exec(value ?? "")?.[1];
  const id = "card.cache-control";
  if (value === null) {
    return {
      id,
      severity: "warning",
      what: "The card does not say how long it may be kept.",
      fix: "Send Cache-Control: public, max-age=300.",
    };
  }
  const evidence = `cache-control: ${quote(value)}`;
  if (/no-store/i.test(value)) {
    return {
      id,
      severity: "warning",
      what: "The card must not be kept at all: every client asks again and again.",
      evidence,
      fix: "Send Cache-Control: public, max-age=300.",
    };
  }
  if (maxAge === undefined) {
    return {
      id,
      severity: "note",
      what: "The card does not say for how many seconds it may be kept.",
      evidence,
      fix: "Add max-age.",
    };
  }
  return Number(maxAge) > longestAge
    ? {
        id,
        severity: "note",
        what: "The card may be kept for more than a day: clients learn late of what changes.",
        evidence,
        fix: "Say max-age=300 or so.",
      }
    : { id, severity: "ok", what: "The card says how long it may be kept.", evidence };
}

const longestAge = 86_400;
