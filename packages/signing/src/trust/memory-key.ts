import { base64url } from "jose";

/**
 * By what an agent is remembered: the origin of its card's URL, such as `https://agents.example.org`, and the path below which it
 * lives when it is one of several there: `https://agents.example.org/agents/clerk`. All places where clients look for the card
 * of one agent (`…/.well-known/agent-card.json`, `…/.well-known/agent.json`, the path itself) have the same key, so that nobody
 * is met for the first time by moving from one to the other.
 *
 * A query tells agents apart, too. Since it may hold secrets, and what is remembered is written down, its SHA-256 stands for it:
 * `https://agents.example.org/card?sha256-…`. Fragments are no part of it.
 *
 * @returns undefined for what is not an http or https URL
 */
export async function cardMemoryKey(url: string | URL): Promise<string | undefined> {
  const parsed = URL.parse(url);
  if (parsed === null || !isWebUrl(parsed)) {
    return undefined;
  }
  const path = parsed.pathname.replace(/\/\.well-known\/agent(?:-card)?\.json$/, "").replace(/\/+$/, "");
  const query = parsed.search === "" ? "" : `?sha256-${await digestOf(parsed.search)}`;
  return parsed.origin + path + query;
}

/** Whether a URL's origin says whose it is: `blob:` has one, too, and is made by whoever can run a script there. */
export function isWebUrl({ protocol }: URL): boolean {
  return protocol === "https:" || protocol === "http:";
}

/** SHA-256 of the UTF-8 of a text, base64url. */
export async function digestOf(text: string): Promise<string> {
  const bytes = new TextEncoder().encode(text);
  return base64url.encode(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));
}
