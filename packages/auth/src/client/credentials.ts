import {
  type CallCredentials,
  type CredentialCall,
  type CredentialSource,
  isLoopbackHost,
  shownText,
} from "@a2a-connect/core/internal";
import type { SecurityScheme } from "@a2a-connect/proto";
import { Code, ConnectError } from "@connectrpc/connect";
import type { AuthorizationServer } from "oauth4webapi";
import { findServer, type TokenScheme } from "./authorization-server.ts";
import type { Secret } from "./grants.ts";
import { type OAuthClient, Tokens } from "./tokens.ts";

/** What a client has to say who calls. */
export interface CredentialOptions {
  /** For schemes that want a token in `Authorization: Bearer`. */
  readonly bearer?: Secret;
  readonly apiKey?: Secret;
  readonly basic?: { readonly user: string; readonly password: Secret };
  /** Whether the client presents a certificate: the option `tls` of `connectAgent` has it. Default false. */
  readonly certificate?: boolean;
  /** Gets access tokens from the authorization server that the card names. */
  readonly client?: OAuthClient;
  /** Origins that may get these credentials: of cards and of their interfaces. Default: that of the first card. */
  readonly origins?: readonly string[];
  /** How authorization servers are reached. Default: as agents are, but never by the `fetch` of `connectAgent`'s options. */
  readonly fetch?: typeof globalThis.fetch;
  /** The time in milliseconds since 1970. Default `Date.now`. */
  readonly now?: () => number;
}

/** How many requirements, and schemes of each, a refusal names: a card may have thousands. */
const maxNamed = 10;

const nothing: CallCredentials = { headers: {}, query: {} };

/**
 * Credentials for the calls of a client (`connectAgent(url, { auth })`), placed as the card says: by the first of its requirements that
 * can be met, each of them in full. An agent whose card asks for nothing gets nothing. Nothing goes to an origin but that of the
 * card, or in clear text beyond this machine; no redirect, file or key set gets it.
 *
 * One value may serve any number of agents of one origin, or of any origin where `client.issuer` names the authorization server and
 * tokens are for each agent alone.
 */
export function createCredentials(options: CredentialOptions): CredentialSource {
  return new Credentials(options);
}

/** How a scheme is met. */
interface Way {
  /** For people. A scheme may have a long text, and be named by thousands of requirements. */
  readonly words: () => string;
  /** Undefined where what it wants is missing. */
  readonly give: (() => Promise<CallCredentials>) | undefined;
}

class Credentials implements CredentialSource {
  readonly #options: CredentialOptions;
  readonly #tokens: Tokens | undefined;
  #origins: readonly string[] | undefined;
  /** What the scheme of an origin's card says, and the authorization server that was found by it. */
  readonly #servers = new Map<
    string,
    { readonly said: string; readonly found: Promise<AuthorizationServer> }
  >();
  /** The authorization server of an origin, from its first card on. */
  readonly #places = new Map<string, string>();

  constructor(options: CredentialOptions) {
    const { client, origins, now = Date.now } = options;
    this.#options = options;
    this.#tokens = client === undefined ? undefined : new Tokens(client, now);
    this.#origins = origins?.map((origin) => new URL(origin).origin);
  }

  async forCall(call: CredentialCall): Promise<CallCredentials> {
    const { securityRequirements, securitySchemes, name } = call.card;
    if (Object.keys(securitySchemes).length === 0) return nothing;
    const ways = securityRequirements.map(({ schemes }) =>
      Object.entries(schemes).map(([scheme, { list }]) =>
        this.#wayOf(scheme, securitySchemes[scheme], list, call),
      ),
    );
    if (ways.length === 0) return await this.#giveWhatFits(call);
    const met = ways.find((each) => each.every(({ give }) => give !== undefined));
    if (met === undefined) {
      const wanted = named(ways, (each) => named(each, ({ words }) => words(), " and "), ", or ");
      throw refusal(`${shownText(name) || "the agent"} requires ${wanted}; you gave none of these`);
    }
    if (met.length === 0) return nothing;
    return await this.#give(met, call);
  }

  refused(_call: CredentialCall, { headers }: CallCredentials): boolean {
    const token = headers["authorization"]?.match(/^Bearer (.+)$/)?.[1];
    return token !== undefined && this.#tokens?.refused(token) === true;
  }

  /** Schemes without requirements: credentials are welcome, and not needed. */
  async #giveWhatFits(call: CredentialCall): Promise<CallCredentials> {
    const ways = Object.entries(call.card.securitySchemes).map(([name, scheme]) =>
      this.#wayOf(name, scheme, [], call),
    );
    const fits = ways.find(({ give }) => give !== undefined);
    return fits === undefined ? nothing : await this.#give([fits], call);
  }

  async #give(ways: readonly Way[], call: CredentialCall): Promise<CallCredentials> {
    this.#requireHome(call);
    const headers: Record<string, string> = {};
    const query: Record<string, string> = {};
    // One after the other: a card may name thousands of authorization servers, of which the second is refused.
    for (const { give } of ways) {
      const given = (await give?.()) ?? nothing;
      Object.assign(query, given.query);
      for (const [name, value] of Object.entries(given.headers)) {
        const before = headers[name];
        if (before !== undefined && before !== value && name !== "cookie") {
          throw refusal(`the card wants two values of ${name} at a time`);
        }
        headers[name] = before === undefined || before === value ? value : `${before}; ${value}`;
      }
    }
    return { headers, query };
  }

  /** @throws ConnectError where these credentials are not for the agent, or others could read them on their way */
  #requireHome(call: CredentialCall): void {
    const { origin, protocol, hostname } = targetOf(call);
    const home = call.cardUrl === undefined ? origin : new URL(call.cardUrl).origin;
    this.#origins ??= this.#mayRoam ? undefined : [home];
    const allowed = this.#origins ?? [home];
    const stray = [home, origin].find((each) => !allowed.includes(each));
    if (stray !== undefined) {
      throw refusal(
        `the credentials are for ${allowed.join(", ")}, and the card of ${home} leads to ${stray}: name it in \`origins\` if it may have them`,
      );
    }
    if (protocol !== "https:" && !isLoopbackHost(hostname)) {
      throw refusal(`${origin} would get credentials in clear text`);
    }
  }

  /** Tokens that count at one agent alone, of a server that the caller has named, harm no other one. */
  get #mayRoam(): boolean {
    const { bearer, apiKey, basic, client } = this.#options;
    const isAlone = bearer === undefined && apiKey === undefined && basic === undefined;
    return isAlone && client?.issuer !== undefined && client.audience === undefined;
  }

  #wayOf(
    name: string,
    scheme: SecurityScheme | undefined,
    scopes: readonly string[],
    call: CredentialCall,
  ): Way {
    const { bearer, apiKey, basic, certificate, client } = this.#options;
    const told = scheme?.scheme;
    switch (told?.case) {
      case "httpAuthSecurityScheme": {
        const { scheme: kind } = told.value;
        const words = () => `HTTP ${shownText(kind)} (${shownText(name)})`;
        if (/^basic$/i.test(kind)) return { words, give: basic && (() => giveBasic(basic)) };
        const isBearer = /^bearer$/i.test(kind) && bearer !== undefined;
        return { words, give: isBearer ? () => giveBearer(bearer) : undefined };
      }
      case "apiKeySecurityScheme": {
        const { location, name: key } = told.value;
        const words = () => `an API key in the ${shownText(location)} ${shownText(key)} (${shownText(name)})`;
        return { words, give: apiKey === undefined ? undefined : () => giveKey(apiKey, location, key) };
      }
      case "oauth2SecurityScheme":
      case "openIdConnectSecurityScheme": {
        const words = () =>
          `an access token of ${told.case === "oauth2SecurityScheme" ? "OAuth 2" : "OpenID Connect"} (${shownText(name)})`;
        if (bearer !== undefined) return { words, give: () => giveBearer(bearer) };
        return {
          words,
          give: client && (() => giveBearer(() => this.#tokenFor(told, scopes, client, call))),
        };
      }
      case "mtlsSecurityScheme":
        return {
          words: () => `a client certificate (${shownText(name)})`,
          give: certificate === true ? async () => nothing : undefined,
        };
      default:
        return { words: () => `${shownText(name)}, which the card does not describe`, give: undefined };
    }
  }

  async #tokenFor(
    scheme: TokenScheme,
    required: readonly string[],
    client: OAuthClient,
    call: CredentialCall,
  ): Promise<string> {
    const { fetch = call.fetch } = this.#options;
    const { signal } = call;
    const home = baseOf(call);
    try {
      const server = await this.#serverOf(new URL(home).origin, scheme, client, fetch);
      const flow = scheme.case === "oauth2SecurityScheme" ? scheme.value.flows?.flow.value : undefined;
      const scopes = client.scopes ?? (required.length > 0 ? required : Object.keys(flow?.scopes ?? {}));
      const audience = client.audience === false ? undefined : (client.audience ?? home);
      return (await this.#tokens?.get({ server, audience, scopes, fetch, signal })) ?? "";
    } catch (error) {
      signal?.throwIfAborted();
      throw refusal(error instanceof Error ? error.message : "no token could be had");
    }
  }

  /** @throws Error when the card of this origin has named another authorization server before */
  async #serverOf(
    origin: string,
    scheme: TokenScheme,
    client: OAuthClient,
    fetch: typeof globalThis.fetch,
  ): Promise<AuthorizationServer> {
    const said = JSON.stringify(scheme);
    let known = this.#servers.get(origin);
    if (known?.said !== said) {
      known = { said, found: findServer(scheme, client, fetch) };
      this.#servers.set(origin, known);
      known.found.catch(() => this.#servers.delete(origin)); // the next call tries again
    }
    const server = await known.found;
    const place = `${server.issuer} ${server.token_endpoint}`;
    const before = this.#places.get(origin) ?? place;
    if (before !== place) {
      throw new Error(
        `the card of ${origin} names another authorization server than before: ${server.issuer}`,
      );
    }
    this.#places.set(origin, place);
    return server;
  }
}

/** The first items of a list, and how many more there are. */
function named<T>(items: readonly T[], name: (item: T) => string, separator: string): string {
  const more = items.length - maxNamed;
  return [...items.slice(0, maxNamed).map(name), ...(more > 0 ? [`${more} more`] : [])].join(separator);
}

/** Where a call goes. An interface of gRPC may have a host and a port alone; then the card's scheme counts. */
function targetOf({ interface: { url }, cardUrl }: CredentialCall): URL {
  const scheme = URL.parse(cardUrl ?? "")?.protocol ?? "https:";
  const target = /^https?:/i.test(url)
    ? URL.parse(url)
    : URL.parse(`${scheme}//${url.replace(/^dns:\/*/, "")}`);
  if (target === null) throw refusal("the card's interface has a URL that no credentials can go to");
  return target;
}

/** The URL of the agent. */
function baseOf(call: CredentialCall): string {
  const { cardUrl } = call;
  return cardUrl === undefined ? targetOf(call).origin : cardUrl.replace(/(?:\/\.well-known\/|[?#]).*/s, "");
}

/** @throws Error when it could smuggle a header */
async function read(secret: Secret): Promise<string> {
  const value = typeof secret === "string" ? secret : await secret();
  if (/[^\x20-\x7e]|^ | $|^$/.test(value))
    throw refusal("a credential is empty, or has characters that no header may have");
  return value;
}

async function giveBearer(secret: Secret): Promise<CallCredentials> {
  return { headers: { authorization: `Bearer ${await read(secret)}` }, query: {} };
}

async function giveBasic({
  user,
  password,
}: NonNullable<CredentialOptions["basic"]>): Promise<CallCredentials> {
  if (user.includes(":")) throw refusal("a user's name has no colon in HTTP Basic");
  const value = typeof password === "string" ? password : await password();
  const bytes = new TextEncoder().encode(`${user}:${value}`);
  return { headers: { authorization: `Basic ${btoa(String.fromCharCode(...bytes))}` }, query: {} };
}

async function giveKey(secret: Secret, location: string, name: string): Promise<CallCredentials> {
  const key = await read(secret);
  if (location === "query") return { headers: {}, query: { [name]: key } };
  return location === "cookie"
    ? { headers: { cookie: `${name}=${encodeURIComponent(key)}` }, query: {} }
    : { headers: { [name.toLowerCase()]: key }, query: {} };
}

function refusal(sentence: string): ConnectError {
  return new ConnectError(sentence, Code.Unauthenticated);
}
