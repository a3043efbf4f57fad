/** What is to be examined. */
export interface Target {
  /** Where the user pointed. */
  readonly url: URL;
  /** Where a card may be, the right place first. */
  readonly cardUrls: readonly CardUrl[];
}

/** A place that a card may be at. */
export interface CardUrl {
  readonly url: string;
  /** `asked`: the user named it; `wrong`: where people put it by mistake. */
  readonly kind: "asked" | "well-known" | "older" | "wrong";
}

/** Where cards of 1.0 are (spec §8.2). */
const wellKnownPath = "/.well-known/agent-card.json";

/** Where to look for the card of an agent at this URL, or of the card itself. @param text absolute */
export function parseTarget(text: string): Target {
  const url = new URL(text);
  return { url, cardUrls: cardUrlsOf(url) };
}

/** Whether a host, as a URL has it, is this machine by its name or address. */
export function isLocalHost(hostname: string): boolean {
  return /^(.+\.)?localhost$|^127\.|^\[::1\]$|^0\.0\.0\.0$/.test(hostname);
}

function cardUrlsOf(url: URL): CardUrl[] {
  if (url.pathname.endsWith(".json")) return [{ url: url.href, kind: "asked" }];
  const base = url.origin + url.pathname.replace(/\/+$/, "");
  const places: CardUrl[] = [
    { url: base + wellKnownPath, kind: "well-known" },
    { url: url.origin + wellKnownPath, kind: "well-known" },
    { url: `${base}/.well-known/agent.json`, kind: "older" },
    { url: `${base}/agent-card.json`, kind: "wrong" },
    { url: `${base}/agent.json`, kind: "wrong" },
    { url: base === url.origin ? `${base}/` : base, kind: "wrong" },
  ];
  return places.filter((place, index) => places.findIndex(({ url }) => url === place.url) === index);
}
