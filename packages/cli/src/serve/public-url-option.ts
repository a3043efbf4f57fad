import { InvalidArgumentError, Option } from "commander";

/** `--public-url`: what the card says, wherever the server listens. */
export function publicUrlOption(): Option {
  return new Option(
    "--public-url <url>",
    "where callers reach it, as the card says (default: server.url of a2a.config.yaml, else where it listens)",
  ).argParser(parsePublicUrl);
}

/** @returns the URL without a slash at its end @throws InvalidArgumentError when no card can have it */
function parsePublicUrl(text: string): string {
  const url = URL.parse(text);
  const fits =
    url !== null &&
    ["http:", "https:"].includes(url.protocol) &&
    [url.username, url.password, url.search, url.hash].every((part) => part === "");
  if (!fits) {
    throw new InvalidArgumentError(
      "It is http or https, without user, query or fragment, such as https://agents.example.org.",
    );
  }
  return text.replace(/\/+$/, "");
}
