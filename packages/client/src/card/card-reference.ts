import { isLoopbackHost, shownText, shownUrl, trimSlashes } from "@a2a-connect/core/internal";
import { CardNotFoundError } from "../errors.ts";

/** The path of a card by the specification (spec §8.2), and the path before 0.3. */
const wellKnownPaths = ["/.well-known/agent-card.json", "/.well-known/agent.json"] as const;

/**
 * The URLs where an agent's card may be, best guess first:
 *
 * - for a host or an origin: its well-known paths; without a scheme it is https, on this machine http;
 * - for a URL with a path that ends in `.json` or contains `/.well-known/`: only this URL;
 * - for any other URL: the well-known paths below it, where one of several agents is mounted, then the URL itself.
 *
 * @throws CardNotFoundError when the text is no such address
 */
export function findCardUrls(reference: string | URL): readonly URL[] {
  const url = parseReference(reference);
  if (url.pathname.endsWith(".json") || url.pathname.includes("/.well-known/")) {
    return [url];
  }
  const base = trimSlashes(url.pathname);
  const guesses = wellKnownPaths.map((path) => new URL(base + path, url.origin));
  return base === "" && url.search === "" ? guesses : [...guesses, url];
}

function parseReference(reference: string | URL): URL {
  const text = String(reference).trim();
  const hasScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(text);
  const url = hasScheme ? URL.parse(text) : parseHost(text);
  if (url === null || url.hostname === "") {
    throw notFound(text, "is no address", "Give a host, or the URL of the agent or of its card.");
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw notFound(
      text,
      "is no http or https URL",
      "Give a host, or the http or https URL of the agent or of its card.",
    );
  }
  if (url.username !== "" || url.password !== "") {
    throw notFound(
      shownUrl(url),
      "was given with a user name or password in it, which may end up in logs",
      "Leave them out of the URL, and send credentials as `headers`.",
    );
  }
  url.hash = "";
  return new URL(url);
}

/** `example.com`, `localhost:4000/agents/clerk`. The pattern allows fewer characters than a URL may have. */
function parseHost(text: string): URL | null {
  if (!/^(?:[\p{L}\p{N}._-]+|\[[\da-f:.]+\])(?::\d+)?(?:[/?#]|$)/iu.test(text) || text.startsWith(".")) {
    return null;
  }
  const secure = URL.parse(`https://${text}`);
  return secure !== null && isLoopbackHost(secure.hostname) ? URL.parse(`http://${text}`) : secure;
}

function notFound(text: string, problem: string, hint: string): CardNotFoundError {
  const shown = shownText(text);
  return new CardNotFoundError(shown, `${JSON.stringify(shown)} ${problem}.`, { hint });
}
