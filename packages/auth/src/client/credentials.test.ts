import { type AgentCard, AgentCardSchema, type SecuritySchemeSchema } from "@a2a-connect/proto";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { None } from "oauth4webapi";
import { describe, expect, it } from "vitest";
import { type CredentialOptions, createCredentials } from "./credentials.ts";
import { browserLogin, exchange, jwtBearer } from "./grants.ts";

const home = "https://agent.example";
const id = "https://id.example";

/** A card of an agent at `home`. */
function cardOf(init: Exclude<MessageInitShape<typeof AgentCardSchema>, { $typeName: string }>): AgentCard {
  return create(AgentCardSchema, { name: "Clerk", ...init });
}

type Scheme = NonNullable<MessageInitShape<typeof SecuritySchemeSchema>["scheme"]>;
const bearer = { case: "httpAuthSecurityScheme", value: { scheme: "Bearer" } } as const;
const basic = { case: "httpAuthSecurityScheme", value: { scheme: "basic" } } as const;
const key = (location: string) =>
  ({ case: "apiKeySecurityScheme", value: { location, name: "X-Key" } }) as const;
const flow = (tokenUrl: string, oauth2MetadataUrl = "") =>
  ({
    case: "oauth2SecurityScheme",
    value: {
      oauth2MetadataUrl,
      flows: { flow: { case: "clientCredentials", value: { tokenUrl, scopes: { "a2a:tasks:read": "" } } } },
    },
  }) as const;

/** A card that requires each of these schemes. */
function requiring(...schemes: Scheme[]): AgentCard {
  const named = schemes.map((scheme, at) => [`s${at}`, { scheme }] as const);
  return cardOf({
    securitySchemes: Object.fromEntries(named),
    securityRequirements: [{ schemes: Object.fromEntries(named.map(([name]) => [name, {}])) }],
  });
}

/** Documents by their URLs, and who asked for what. */
function site(documents: Record<string, (body: URLSearchParams) => object> = {}) {
  const asked: string[] = [];
  const bodies: URLSearchParams[] = [];
  const fetch: typeof globalThis.fetch = async (input, init) => {
    asked.push(String(input));
    const body = new URLSearchParams(String(init?.body ?? ""));
    bodies.push(body);
    const found = documents[String(input)]?.(body);
    return found instanceof Response ? found : Response.json(found ?? {}, { status: found ? 200 : 404 });
  };
  return { asked, bodies, fetch };
}

interface Where {
  readonly url?: string;
  readonly cardUrl?: string | undefined;
  readonly fetch?: typeof globalThis.fetch;
}

function call(card: AgentCard, where: Where = {}) {
  const cardUrl = "cardUrl" in where ? where.cardUrl : `${home}/.well-known/agent-card.json`;
  const url = where.url ?? `${home}/rpc`;
  const { fetch = site().fetch } = where;
  const target = { url, protocolBinding: "JSONRPC" } as AgentCard["supportedInterfaces"][number];
  return { card, cardUrl, interface: target, fetch, signal: undefined };
}

const give = (options: CredentialOptions, card: AgentCard, where?: Where) =>
  createCredentials(options).forCall(call(card, where));

describe("credentials", () => {
  for (const [what, options, schemes, headers, query] of [
    ["a bearer token", { bearer: "t" }, [bearer], { authorization: "Bearer t" }, {}],
    ["a token that is asked for", { bearer: async () => "t" }, [bearer], { authorization: "Bearer t" }, {}],
    [
      "a user and a password",
      { basic: { user: "u", password: "ü" } },
      [basic],
      { authorization: "Basic dTrDvA==" },
      {},
    ],
    ["a key in a header", { apiKey: "k" }, [key("header")], { "x-key": "k" }, {}],
    ["a key in the query", { apiKey: "k" }, [key("query")], {}, { "X-Key": "k" }],
    ["a key in a cookie", { apiKey: "k;=" }, [key("cookie")], { cookie: "X-Key=k%3B%3D" }, {}],
    [
      "two at a time",
      { bearer: "t", apiKey: "k" },
      [bearer, key("header")],
      { authorization: "Bearer t", "x-key": "k" },
      {},
    ],
  ] satisfies [string, CredentialOptions, Scheme[], object, object][]) {
    it(`are placed as the card says: ${what}`, async () => {
      expect(await give(options, requiring(...schemes))).toEqual({ headers, query });
    });
  }

  it("are those of the first requirement that can be met in full", async () => {
    const card = cardOf({
      securitySchemes: { a: { scheme: bearer }, b: { scheme: key("header") }, c: { scheme: basic } },
      securityRequirements: [{ schemes: { a: {}, c: {} } }, { schemes: { b: {} } }, { schemes: { a: {} } }],
    });
    expect(await give({ bearer: "t", apiKey: "k" }, card)).toEqual({ headers: { "x-key": "k" }, query: {} });
    await expect(give({}, card)).rejects.toThrow(
      "Clerk requires HTTP Bearer (a) and HTTP basic (c), or an API key in the header X-Key (b), or HTTP Bearer (a); you gave none of these",
    );
  });

  it("are refused in a sentence of bounded length, however much the card requires", async () => {
    const long = "x".repeat(100_000);
    const card = cardOf({
      name: long,
      securitySchemes: { [long]: { scheme: { case: "httpAuthSecurityScheme", value: { scheme: long } } } },
      securityRequirements: Array.from({ length: 100 }, () => ({ schemes: { [long]: {} } })),
    });
    const refused = await give({}, card).catch((error: Error) => error.message);
    expect(refused).toMatch(/…\), or 90 more; you gave none of these$/);
    expect(String(refused).length).toBeLessThan(4_000);
  });

  it("are none for a card that asks for none", async () => {
    expect(await give({ bearer: "t" }, cardOf({}))).toEqual({ headers: {}, query: {} });
  });

  it("go to the origin of the card alone, and to the first one", async () => {
    const card = requiring(bearer);
    await expect(give({ bearer: "t" }, card, { url: "https://evil.example/rpc" })).rejects.toThrow(
      "the credentials are for https://agent.example, and the card of https://agent.example leads to https://evil.example",
    );
    const auth = createCredentials({ bearer: "t" });
    await auth.forCall(call(card));
    const other = call(card, { cardUrl: "https://evil.example/card.json", url: "https://evil.example/rpc" });
    await expect(auth.forCall(other)).rejects.toThrow("the credentials are for https://agent.example");
    const both = ["https://agent.example", "https://api.example"];
    expect(
      await give({ bearer: "t", origins: both }, card, { url: "https://api.example/rpc" }),
    ).toMatchObject({ headers: { authorization: "Bearer t" } });
  });

  it("do not go in clear text beyond this machine", async () => {
    const plain = { cardUrl: "http://agent.example/card.json", url: "http://agent.example/rpc" };
    await expect(give({ bearer: "t" }, requiring(bearer), plain)).rejects.toThrow("in clear text");
    const grpc = { cardUrl: plain.cardUrl, url: "agent.example:443" };
    await expect(
      give(
        { bearer: "t", origins: ["http://agent.example:443", "http://agent.example"] },
        requiring(bearer),
        grpc,
      ),
    ).rejects.toThrow("in clear text");
    const here = { cardUrl: "http://localhost:4000/card.json", url: "http://localhost:4000/rpc" };
    expect(await give({ bearer: "t" }, requiring(bearer), here)).toMatchObject({
      headers: { authorization: "Bearer t" },
    });
  });

  it.each(["a\r\nx-admin: 1", "a\nb", " a", "", "ü"])("smuggle no header: %j", async (secret) => {
    for (const [options, scheme] of [
      [{ bearer: secret }, bearer],
      [{ apiKey: secret }, key("header")],
    ] satisfies [CredentialOptions, Scheme][]) {
      const given = give(options, requiring(scheme));
      await expect(given).rejects.toThrow("a credential is empty, or has characters that no header may have");
    }
  });
});

describe("an authorization server", () => {
  const secret = "planted-secret";
  const client = { id: "c", secret };
  const token = (text = "t", more: object = {}) => ({ access_token: text, token_type: "Bearer", ...more });
  const metadata = (more: object = {}) => ({ issuer: id, token_endpoint: `${id}/token`, ...more });
  const metadataUrl = `${id}/.well-known/oauth-authorization-server`;
  const card = requiring(flow(`${id}/token`, metadataUrl));

  it("is asked for its metadata once, and for a token once for calls at a time", async () => {
    const { fetch, asked } = site({ [metadataUrl]: () => metadata(), [`${id}/token`]: () => token() });
    const auth = createCredentials({ client });
    const all = await Promise.all(Array.from({ length: 9 }, () => auth.forCall(call(card, { fetch }))));
    await auth.forCall(call(card, { fetch }));
    expect(new Set(all.map(({ headers }) => headers["authorization"]))).toEqual(new Set(["Bearer t"]));
    expect(asked).toEqual([metadataUrl, `${id}/token`]);
  });

  for (const [what, documents, options, sentence] of [
    [
      "has the metadata of another issuer",
      { [metadataUrl]: () => metadata({ issuer: "https://evil.example" }) },
      {},
      "issuer",
    ],
    [
      "has another token endpoint than the card names",
      { [metadataUrl]: () => metadata({ token_endpoint: "https://evil.example/token" }) },
      {},
      `the card names the token endpoint ${id}/token, and ${id} another one`,
    ],
    [
      "is another one than the caller permits",
      {},
      { issuer: "https://mine.example" },
      `the card names the authorization server ${id}, and only https://mine.example is permitted`,
    ],
    [
      "sends on to another one",
      {
        [metadataUrl]: () => metadata(),
        [`${id}/token`]: () =>
          new Response(null, { status: 307, headers: { location: "https://evil.example/token" } }),
      },
      {},
      `${id} gives no token`,
    ],
    [
      "refuses, and repeats the secret",
      {
        [metadataUrl]: () => metadata(),
        [`${id}/token`]: () =>
          Response.json(
            { error: "invalid_client", error_description: `${secret} is wrong` },
            { status: 401 },
          ),
      },
      {},
      `${id} gives no token: invalid_client`,
    ],
  ] satisfies [string, Record<string, () => object>, object, string][]) {
    it(`gets nothing further when it ${what}`, async () => {
      const { fetch, asked } = site(documents);
      const error = await give({ client: { ...client, ...options } }, card, { fetch }).catch(String);
      expect(error).toContain(sentence);
      expect(error).not.toContain(secret);
      expect(asked.filter((url) => url.includes("evil"))).toEqual([]);
    });
  }

  it("stays the one that the first card has named", async () => {
    const { fetch, asked } = site({
      [`${id}/token`]: () => token(),
      "https://evil.example/token": () => token(),
    });
    const auth = createCredentials({ client });
    await auth.forCall(call(requiring(flow(`${id}/token`)), { fetch }));
    const moved = auth.forCall(call(requiring(flow("https://evil.example/token")), { fetch }));
    await expect(moved).rejects.toThrow(
      "names another authorization server than before: https://evil.example",
    );
    expect(asked).toEqual([`${id}/token`]);
  });

  it("is not asked again and again when an agent refuses all of its tokens", async () => {
    let time = 0;
    let count = 0;
    const { fetch, asked } = site({ [`${id}/token`]: () => token(`t${++count}`, { expires_in: 3_600 }) });
    const auth = createCredentials({ client, now: () => time });
    const asking = call(requiring(flow(`${id}/token`)), { fetch });
    const first = await auth.forCall(asking);
    expect(auth.refused(asking, first)).toBe(false);
    time += 60_000;
    expect(auth.refused(asking, first)).toBe(true);
    expect((await auth.forCall(asking)).headers["authorization"]).toBe("Bearer t2");
    expect(asked).toHaveLength(2);
  });

  it("is got of one server after the other, so a card that names many makes no storm of requests", async () => {
    const hosts = Array.from({ length: 50 }, (_, at) => `https://id${at}.example`);
    const documents = hosts.flatMap((issuer) => [
      [
        `${issuer}/.well-known/oauth-authorization-server`,
        () => metadata({ issuer, token_endpoint: `${issuer}/t` }),
      ],
      [`${issuer}/t`, () => token()],
    ]);
    const { fetch, asked } = site(Object.fromEntries(documents));
    const schemes = hosts.map((host) => flow(`${host}/t`, `${host}/.well-known/oauth-authorization-server`));
    const given = give({ client }, requiring(...schemes), { fetch });
    await expect(given).rejects.toThrow("names another authorization server than before");
    expect(asked).toHaveLength(3);
  });

  it("is told apart by user when tokens are exchanged", async () => {
    const { fetch, bodies } = site({
      [`${id}/token`]: (body) => token(`for ${body.get("subject_token")}`, { scope: "a2a:tasks:read" }),
    });
    let user = "alice";
    const grant = exchange({ subject: () => user, actor: "me" });
    const auth = createCredentials({ client: { ...client, grant } });
    const asking = call(requiring(flow(`${id}/token`)), { fetch });
    const tokens: (string | undefined)[] = [];
    for (user of ["alice", "bob", "alice"])
      tokens.push((await auth.forCall(asking)).headers["authorization"]);
    expect(tokens).toEqual(["Bearer for alice", "Bearer for bob", "Bearer for alice"]);
    expect(bodies).toHaveLength(2);
    expect(Object.fromEntries(bodies[0] ?? [])).toMatchObject({
      grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
      subject_token: "alice",
      actor_token: "me",
      resource: home,
    });
  });

  it("may not widen scopes in an exchange, and the agent may not pass for the user unless told so", async () => {
    const { fetch } = site({ [`${id}/token`]: () => token("t", { scope: "a2a:tasks:read admin" }) });
    const grant = exchange({ subject: "alice", impersonate: true });
    const wide = give({ client: { ...client, grant } }, requiring(flow(`${id}/token`)), { fetch });
    await expect(wide).rejects.toThrow("the new token has scopes that were not asked for: admin");
    expect(() => exchange({ subject: "alice" })).toThrow("exchange needs a token of the agent itself");
  });

  it("compares scopes in an exchange at a cost that is linear in both lists, and names ten of them", async () => {
    const readsFor = async (count: number): Promise<number> => {
      const more = Array.from({ length: count }, (_, at) => `more${at}`);
      const { fetch } = site({ [`${id}/token`]: () => token("t", { scope: more.join(" ") }) });
      let reads = 0;
      const scopes = new Proxy<readonly string[]>(
        more.map((scope) => `no-${scope}`),
        {
          get: (target, name, self) => {
            reads += 1;
            return Reflect.get(target, name, self);
          },
        },
      );
      const grant = exchange({ subject: "alice", impersonate: true });
      const asking = grant.obtain({
        server: { issuer: id, token_endpoint: `${id}/token` },
        client: { client_id: "c" },
        authentication: None(),
        audience: undefined,
        issuer: undefined,
        parameters: {},
        scopes,
        fetch,
        signal: undefined,
      });
      await expect(asking).rejects.toThrow(/: more0, more1, .*, more9 and \d+ more$/);
      return reads;
    };
    expect(await readsFor(200)).toBeLessThan(2.5 * (await readsFor(100)));
  });

  it("takes an assertion of another server", async () => {
    const { fetch, bodies } = site({ [`${id}/token`]: () => token() });
    const options = { client: { ...client, grant: jwtBearer("signed") } };
    await give(options, requiring(flow(`${id}/token`)), { fetch });
    expect(Object.fromEntries(bodies[0] ?? [])).toMatchObject({
      grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer",
      assertion: "signed",
    });
  });

  it("gets a user's refresh token once: when it no longer counts, the user logs in again", async () => {
    const kept = new Map<string, object | undefined>();
    const store = {
      get: async () => ({ accessToken: "old", refreshToken: "stolen", expiresAt: 0 }),
      set: async (at: string, tokens: object | undefined) => void kept.set(at, tokens),
    };
    const { fetch } = site({
      [`${id}/token`]: () => Response.json({ error: "invalid_grant" }, { status: 400 }),
    });
    const asking = give({ client: { id: "c", store } }, requiring(flow(`${id}/token`)), { fetch });
    await expect(asking).rejects.toThrow(`there is no token of ${id}, or it has expired: log in`);
    expect([...kept.values()]).toEqual([undefined]);
  });

  describe("that a user logs in to", () => {
    const ask = (authorizationUrl: string, back: (state: string) => string, more: object = {}) => {
      const opened: URL[] = [];
      const open = async (url: URL) => {
        opened.push(url);
        return new URL(back(url.searchParams.get("state") ?? ""));
      };
      const redirectUri = "http://127.0.0.1:7777/back";
      const value = { tokenUrl: `${id}/token`, authorizationUrl, scopes: {} };
      const scheme = {
        case: "oauth2SecurityScheme",
        value: { oauth2MetadataUrl: "", flows: { flow: { case: "authorizationCode", value } } },
      } as const;
      const site_ = site({ [`${id}/token`]: () => token() });
      const options = { client: { id: "c", grant: browserLogin({ redirectUri, open }), ...more } };
      return { opened, given: give(options, requiring(scheme), { fetch: site_.fetch }), asked: site_.asked };
    };

    it.each([
      ["of another login", () => "http://127.0.0.1:7777/back?code=x&state=other", "state"],
      ["without a state", () => "http://127.0.0.1:7777/back?code=x", "state"],
      [
        "of another server",
        (state: string) => `http://127.0.0.1:7777/back?code=x&state=${state}&iss=https://evil.example`,
        "iss",
      ],
      [
        "of a user who said no",
        (state: string) => `http://127.0.0.1:7777/back?error=access_denied&state=${state}`,
        "access_denied",
      ],
    ])("refuses an answer %s", async (_what, back, sentence) => {
      const { given, asked } = ask(`${id}/authorize`, back);
      await expect(given).rejects.toThrow(sentence);
      expect(asked).toEqual([]);
    });

    it("gets no code of another server's login (mix-up)", async () => {
      const { given, opened } = ask("https://honest.example/authorize", () => "http://127.0.0.1:7777/back");
      await expect(given).rejects.toThrow(
        "https://id.example sends users to https://honest.example, and their codes to https://id.example: name the issuer if that is right",
      );
      expect(opened).toEqual([]);
    });
  });
});
