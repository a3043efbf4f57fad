import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { objectOf, textOf } from "../canonical/json.ts";
import { quote } from "../verify/verdict.ts";
import { type Address, readAddress } from "./address.ts";

/** A SecurityScheme of a card. */
export interface Scheme {
  /** The member that is set; undefined when none is known or several are set, so that it is unclear what callers need. */
  readonly kind: SchemeKind | undefined;
  /**
   * How well it protects a caller against an agent, or another party on the way, that keeps what it receives (`strengths`). Only the
   * order means something. 0: it is unclear what callers need.
   */
  readonly strength: number;
  /** The scheme of HTTP authentication, such as `Bearer`; empty of other kinds. */
  readonly httpScheme: string;
  /** Names of the flows of OAuth 2.0. */
  readonly flows: ReadonlySet<string>;
  /** With PKCE, an authorization code is worth nothing to others who intercept it. */
  readonly demandsPkce: boolean;
  /** Flows by codes that are worth something to others: without PKCE, or by device codes, which know none. */
  readonly openCodes: ReadonlySet<string>;
  readonly addresses: readonly SchemeAddress[];
  /** Equal for schemes that ask for the same, in the same way and at the same place. Texts for people do not count. */
  readonly identity: string;
}

/** A member of SecurityScheme. */
export type SchemeKind =
  | "mtlsSecurityScheme"
  | "openIdConnectSecurityScheme"
  | "oauth2SecurityScheme"
  | "httpAuthSecurityScheme"
  | "apiKeySecurityScheme";

/** An address that a client of a scheme talks to, or sends people to. */
export interface SchemeAddress extends Address {
  readonly member: (typeof addressMembers)[number];
}

const addressMembers = [
  "authorizationUrl",
  "deviceAuthorizationUrl",
  "tokenUrl",
  "refreshUrl",
  "oauth2MetadataUrl",
  "openIdConnectUrl",
] as const;

/** Members of schemes that are there for people. */
const forPeople: ReadonlySet<string> = new Set(["description", "scopes", "bearerFormat"]);

const goodFlows: ReadonlySet<string> = new Set(["authorizationCode", "clientCredentials", "deviceCode"]);

const httpStrengths: ReadonlyMap<string, number> = new Map([
  ["basic", 2],
  ["dpop", 6], // tokens that only their owner can use
]);

/** By the kind of a scheme, of what stands under that member. */
const strengths: Readonly<Record<SchemeKind, (content: JsonObject) => number>> = {
  mtlsSecurityScheme: () => 7, // nothing is sent that could be used again
  openIdConnectSecurityScheme: () => 5, // tokens that expire, for a purpose
  oauth2SecurityScheme: ({ flows }) => {
    const names = Object.keys(objectOf(flows));
    return names.length > 0 && names.every((name) => goodFlows.has(name)) ? 5 : 4; // OAuth 2.1 has given up the others
  },
  httpAuthSecurityScheme: ({ scheme }) => httpStrengths.get(textOf(scheme).toLowerCase()) ?? 3, // a token of unknown origin
  apiKeySecurityScheme: ({ location }) => (["header", "cookie"].includes(textOf(location)) ? 2 : 1), // 1: the secret is in logs
};

/** Whether a name is that of a member of SecurityScheme. */
function isSchemeKind(name: string): name is SchemeKind {
  return Object.hasOwn(strengths, name);
}

/** Reads a SecurityScheme. Total: what is none is of no kind. */
export function readScheme(name: string, json: JsonValue): Scheme {
  const scheme = objectOf(json);
  const [first, ...others] = Object.keys(scheme).filter(isSchemeKind);
  const kind = others.length === 0 ? first : undefined;
  const content = kind === undefined ? {} : objectOf(scheme[kind]);
  const httpScheme = kind === "httpAuthSecurityScheme" ? textOf(content["scheme"]) : "";
  const flows = kind === "oauth2SecurityScheme" ? objectOf(content["flows"]) : {};
  const demandsPkce = objectOf(flows["authorizationCode"])["pkceRequired"] === true;
  const openCodes = ["deviceCode", ...(demandsPkce ? [] : ["authorizationCode"])];
  return {
    kind,
    strength: kind === undefined ? 0 : strengths[kind](content),
    httpScheme,
    flows: new Set(Object.keys(flows)),
    demandsPkce,
    openCodes: new Set(openCodes.filter((flow) => Object.hasOwn(flows, flow))),
    addresses: kind === undefined ? [] : readAddresses(name, kind, content),
    identity: identify(scheme),
  };
}

/** What a requirement names that the card does not declare. */
export const undeclaredScheme: Scheme = readScheme("", {});

function readAddresses(name: string, kind: SchemeKind, content: JsonObject): readonly SchemeAddress[] {
  const flows = Object.entries(objectOf(content["flows"]));
  const places: readonly (readonly [JsonObject, readonly string[]])[] = [
    [content, [kind]],
    ...flows.map(([flow, members]) => [objectOf(members), [kind, "flows", flow]] as const),
  ];
  return places.flatMap(([object, below]) =>
    addressMembers
      .filter((member) => textOf(object[member]) !== "")
      .map((member) => {
        const subject = `The ${member} of the security scheme ${quote(name)}`;
        const path = ["securitySchemes", name, ...below, member];
        return { ...readAddress(textOf(object[member]), subject, path), member };
      }),
  );
}

/** @param scheme canonical: with its members in one order */
function identify(scheme: JsonObject): string {
  return JSON.stringify(scheme, (name, value: unknown) => (forPeople.has(name) ? undefined : value));
}
