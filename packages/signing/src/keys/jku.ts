import { isLoopbackHost, shownText, shownUrl } from "@a2a-connect/core";
import { isWebUrl } from "../trust/memory-key.ts";
import type { JkuPolicy } from "../trust/trust-policy.ts";

/** The URL of a key set that may be asked, or why it may not: a sentence without a full stop. */
export type JkuVerdict =
  | { readonly ok: true; readonly url: URL }
  | { readonly ok: false; readonly problem: string };

/** From which key sets keys may come. */
export interface JkuRule {
  /** Hosts with their ports, as `URL.host` has them; undefined: none is named, so the card's own origin it is. */
  readonly hosts: ReadonlySet<string> | undefined;
}

/** Longest `jku` that is looked at, in UTF-16 code units. */
export const maxJkuLength = 2048;

/** @throws TypeError when one of the hosts is none */
export function createJkuRule({ hosts }: JkuPolicy): JkuRule {
  return { hosts: hosts === undefined ? undefined : new Set(hosts.map(parseHost)) };
}

function parseHost(host: string): string {
  const url = URL.parse(`https://${host}/`);
  if (
    url === null ||
    url.pathname !== "/" ||
    url.username !== "" ||
    url.password !== "" ||
    /[/?#\\*\s]/.test(host)
  ) {
    throw new TypeError(
      `jku.hosts: ${JSON.stringify(host)} is no host, such as keys.example.org or keys.example.org:8443`,
    );
  }
  return url.host;
}

/**
 * Whether the key set that a header names may be asked at all: by https (or on this machine itself), without credentials, and at
 * a host of the policy; when that names none, at the origin that the card itself came from.
 *
 * @param cardUrl where the card came from, when that is known
 */
export function checkJku(jku: unknown, { hosts }: JkuRule, cardUrl: URL | undefined): JkuVerdict {
  const url = typeof jku === "string" && jku.length <= maxJkuLength ? URL.parse(jku) : null;
  if (url === null) {
    return refused("the header names a key set by what is no absolute URL (jku)");
  }
  const shown = shownUrl(url);
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isLoopbackHost(url.hostname))) {
    return refused(`the header names the key set ${shown}, which is not reached by https`);
  }
  if (url.username !== "" || url.password !== "") {
    return refused(`the header names the key set ${shown} with a user name or password in its URL`);
  }
  if (hosts !== undefined && !hosts.has(url.host)) {
    return refused(`the header names the key set ${shown}, whose host is none that the policy allows`);
  }
  const cardOrigin = cardUrl !== undefined && isWebUrl(cardUrl) ? cardUrl.origin : undefined;
  if (hosts === undefined && url.origin !== cardOrigin) {
    const own =
      cardUrl === undefined
        ? "and where the card came from is not known"
        : `and the card came from ${shownText(cardOrigin ?? cardUrl.protocol)}`;
    return refused(
      `the header names the key set ${shown}, ${own}: the policy allows only the card's own origin`,
    );
  }
  url.hash = "";
  return { ok: true, url };
}

function refused(problem: string): JkuVerdict {
  return { ok: false, problem };
}
