/**
 * By what an agent is remembered: the origin of its card's URL, such as `https://agents.example.org`, and the path below which it
 * lives when it is one of several there: `https://agents.example.org/agents/clerk`. All places where clients look for the card
 * of one agent (`…/.well-known/agent-card.json`, `…/.well-known/agent.json`, the path itself) have the same key, so that nobody
 * is met for the first time by moving from one to the other.
 *
 * Queries are no part of it: they may hold secrets, and what is remembered is written down.
 *
 * @returns undefined for what is no http or https URL
 */
export function cardMemoryKey(url: string | URL): string | undefined {
  const parsed = URL.parse(url);
  if (parsed === null || (parsed.protocol !== "https:" && parsed.protocol !== "http:")) {
    return undefined;
  }
  const path = parsed.pathname.replace(/\/\.well-known\/agent(?:-card)?\.json$/, "").replace(/\/+$/, "");
  return parsed.origin + path;
}
