import { addressesOf, quote, quoteList, readOutline, type Scheme } from "@a2a-connect/signing/internal";
import type { Fields } from "../output.ts";
import type { VerdictReport } from "./verdict.ts";

/** What was vouched for; of a card that is not verified, where it would have callers go. What is not as it should be claims nothing. */
export function claimFields({ verification: { verified }, canonical, source }: VerdictReport): Fields {
  if (canonical === undefined) return {};
  const outline = readOutline(JSON.parse(canonical));
  const interfaceHosts = hostsOf(outline.interfaces);
  const interfaces = interfaceHosts.length === 0 ? "none" : quoteList(interfaceHosts);
  const tokens = quoteList(hostsOf(addressesOf(outline)));
  const demands = describeDemands(outline);
  if (!verified) {
    const last = tokens === "" ? "" : `; tokens from ${tokens}`;
    return { "Would Lead To": `${interfaces}; asks for ${demands}${last}` };
  }
  const own = source.url === undefined ? undefined : hostOf(source.url);
  const isForeign = own !== undefined && interfaceHosts.some((host) => host !== own);
  return {
    Interfaces: `${interfaces}${isForeign ? ` (the card came from ${quote(own)})` : ""}`,
    "Asks For": demands,
    "Tokens From": tokens,
  };
}

/** Hosts, with their ports, each once. */
function hostsOf(addresses: readonly { readonly url: string }[]): readonly string[] {
  return [...new Set(addresses.filter(({ url }) => url !== "").map(({ url }) => hostOf(url)))];
}

/** The host of an address, with its port where it names one. gRPC has addresses that are no URLs. */
function hostOf(address: string): string {
  return URL.parse(address)?.host || address;
}

function describeDemands({ requirements, schemes, skills }: ReturnType<typeof readOutline>): string {
  const alternatives = requirements.map((requirement) => {
    const demanded = [...requirement.keys()].map((name) => `${name} (${describeScheme(schemes.get(name))})`);
    return inline(demanded.join(" and ") || "nothing");
  });
  const all = alternatives.join(", or ") || "no credentials";
  const stricter = skills.filter((skill) => skill.requirements.length > 0).length;
  return stricter === 0 ? all : `${all}; ${stricter} skill${stricter === 1 ? "" : "s"} for more`;
}

const kinds: Readonly<Record<string, string>> = {
  apiKeySecurityScheme: "API key",
  httpAuthSecurityScheme: "HTTP",
  oauth2SecurityScheme: "OAuth 2",
  openIdConnectSecurityScheme: "OpenID Connect",
  mtlsSecurityScheme: "client certificate",
};

function describeScheme(scheme: Scheme | undefined): string {
  if (scheme === undefined) return "not declared";
  return [kinds[scheme.kind ?? ""] ?? "of no known kind", scheme.httpScheme].join(" ").trim();
}

/** Words of the card within a line of ours, without quotation marks. */
export function inline(text: string): string {
  return quote(text).slice(1, -1);
}
