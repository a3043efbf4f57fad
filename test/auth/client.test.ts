// A client gets its own tokens, from the card alone, of a real OpenID provider.

import { type AuthGate, apiKey, basic, hashApiKey, hashPassword, openIdConnect } from "@a2a-connect/auth";
import {
  browserLogin,
  type CredentialOptions,
  createCredentials,
  deviceLogin,
  exchange,
} from "@a2a-connect/auth/client";
import { serve } from "@a2a-connect/node";
import { connectAgent } from "@a2a-connect/node/client";
import { createMemoryTaskStore, defineAgent } from "@a2a-connect/server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { audience } from "./issuer.ts";
import { browse, client, program, startProvider, type TestProvider } from "./provider.ts";

const agent = defineAgent({
  card: { name: "Guarded" },
  *execute(turn) {
    const { principal, claims } = turn.caller;
    yield turn.reply(
      claims["act"] === undefined ? principal : `${JSON.stringify(claims["act"])} for ${principal}`,
    );
  },
});

let provider: TestProvider;
let served: Awaited<ReturnType<typeof serveGuarded>>;
const serveGuarded = (
  gate: AuthGate = openIdConnect({ issuer: provider.issuer, audience, claims: ["act"] }),
) =>
  serve(agent, {
    auth: { gates: { id: gate } },
    store: createMemoryTaskStore(),
    shutdown: false,
  });
beforeAll(async () => {
  provider = await startProvider();
  served = await serveGuarded();
});
afterAll(async () => {
  await served.close({ graceMs: 0 });
  provider.close();
});

/** Requests to a provider that wants to be asked again at once. */
const hurry: typeof fetch = async (input, init) => {
  const response = await fetch(input, init);
  const isPrompt = String(input).endsWith("/device/auth");
  return isPrompt ? Response.json({ ...(await response.json()), interval: 0.01 }) : response;
};
const tokensAsked = () => provider.asked.get("/token") ?? 0;

const bindings = [
  "JSONRPC",
  "HTTP+JSON",
  "GRPC",
  "urn:a2a-connect:binding:connect:v1",
  "urn:a2a-connect:binding:grpc-web:v1",
];

describe("a client with a secret", () => {
  for (const binding of bindings) {
    it(`gets one token for many calls at a time, over ${binding}`, async () => {
      const before = tokensAsked();
      const auth = createCredentials({ client: { ...client, audience } });
      await using caller = await connectAgent(served.url, { auth, pinBinding: binding });
      const results = await Promise.all(Array.from({ length: 20 }, () => caller.run("hi")));
      expect(new Set(results.map((result) => result.text()))).toEqual(
        new Set([`${provider.issuer}|${client.id}`]),
      );
      expect(tokensAsked() - before).toBe(1);
    });
  }

  for (const binding of bindings) {
    it(`makes a call once more when the agent no longer takes its token, over ${binding}`, async () => {
      let revoked = "";
      const tokens: string[] = [];
      const gate: AuthGate = openIdConnect({ issuer: provider.issuer, audience });
      const strict: AuthGate = {
        ...gate,
        verify(credentials) {
          const token = credentials.header.get("authorization") ?? "";
          if (tokens.at(-1) !== token) tokens.push(token);
          return token === revoked ? { refused: "the token was taken back" } : gate.verify(credentials);
        },
      };
      let time = Date.now();
      await using server = await serveGuarded(strict);
      const auth = createCredentials({ client: { ...client, audience }, now: () => time });
      for (const call of ["send", "list", "run"] as const) {
        await using caller = await connectAgent(server.url, { auth, pinBinding: binding });
        await caller.run("hi");
        revoked = tokens.at(-1) ?? "";
        time += 31_000;
        const before = tokens.length;
        const result =
          call === "send"
            ? caller.sendMessage("hi")
            : call === "run"
              ? caller.run("hi")
              : caller.listTasks().pages()[Symbol.asyncIterator]().next();
        await expect(result).resolves.toBeDefined();
        expect(tokens.length - before).toBe(1);
      }
    });
  }

  it("asks for a token for the agent itself, with the scopes of its card", async () => {
    const auth = createCredentials({ client: { id: client.id, secret: client.secret } });
    await using caller = await connectAgent(served.url, { auth });
    await expect(caller.run("hi")).rejects.toThrow("the token is for another audience");
    expect(Object.fromEntries(provider.tokenRequests.at(-1) ?? [])).toEqual({
      grant_type: "client_credentials",
      resource: served.url,
      scope: "a2a:tasks:create a2a:tasks:read",
    });
  });
});

describe("a user", () => {
  it("logs in with a browser, and again by the refresh token alone", async () => {
    let time = Date.now();
    let logins = 0;
    const open = (url: URL) => {
      logins += 1;
      return browse(url);
    };
    const auth = createCredentials({
      client: { id: program.id, audience, grant: browserLogin({ redirectUri: program.redirectUri, open }) },
      now: () => time,
    });
    await using caller = await connectAgent(served.url, { auth });
    expect((await caller.run("hi")).text()).toBe(`${provider.issuer}|alice`);
    time += 600_000;
    expect((await caller.run("hi")).text()).toBe(`${provider.issuer}|alice`);
    expect(logins).toBe(1);
    expect(provider.tokenRequests.at(-1)?.get("grant_type")).toBe("refresh_token");
  });

  it("logs in with a code on another device", async () => {
    const shown: string[] = [];
    const grant = deviceLogin(async ({ completeUrl = "", code, url }) => {
      shown.push(url, code);
      await browse(new URL(completeUrl), "bob");
    });
    const auth = createCredentials({ client: { id: program.id, audience, grant }, fetch: hurry });
    await using caller = await connectAgent(served.url, { auth });
    expect((await caller.run("hi")).text()).toBe(`${provider.issuer}|bob`);
    expect(shown).toEqual([`${provider.issuer}/device`, expect.stringMatching(/^[A-Z]{4}-[A-Z]{4}$/)]);
  });
});

it("an agent acts for a user by exchanging their token", async () => {
  const grant = exchange({
    subject: () => provider.token("https://front.example"),
    actor: () => provider.token(provider.issuer),
  });
  const auth = createCredentials({ client: { ...client, audience, grant } });
  await using caller = await connectAgent(served.url, { auth });
  const who = `{"sub":"${client.id}"} for ${provider.issuer}|${client.id}`;
  expect((await caller.run("hi")).text()).toBe(who);
});

describe("a secret of the caller's own", async () => {
  const keys = { alice: { hash: await hashApiKey("alices-key") } };
  const users = { alice: { hash: await hashPassword("pass:word") } };
  const ways: [string, AuthGate, CredentialOptions][] = [
    ["key in a header", apiKey({ header: "X-API-Key", keys }), { apiKey: "alices-key" }],
    ["key in the query", apiKey({ query: "key", keys }), { apiKey: "alices-key" }],
    ["key in a cookie", apiKey({ cookie: "key", keys }), { apiKey: "alices-key" }],
    ["password", basic({ users }), { basic: { user: "alice", password: "pass:word" } }],
  ];
  for (const [what, gate, options] of ways) {
    it(`goes where the card says, over every wire: a ${what}`, async () => {
      const own = await serveGuarded(gate);
      for (const pinBinding of bindings) {
        const auth = createCredentials(options);
        await using caller = await connectAgent(own.url, { auth, pinBinding });
        const said = await caller.run("hi").then(
          (result) => result.text(),
          (error: Error) => error.message,
        );
        const isImpossible = what === "key in the query" && pinBinding === "GRPC";
        expect([pinBinding, said]).toEqual([
          pinBinding,
          isImpossible
            ? "[unauthenticated] the agent wants its API key in the URL's query, and gRPC has no query"
            : expect.stringMatching(/^(key|user):alice$/),
        ]);
      }
      await own.close({ graceMs: 0 });
    });
  }
});

it("a secret for the query is not sent to an agent whose card wants none there", async () => {
  const own = await serve(agent, { store: createMemoryTaskStore(), shutdown: false });
  const sent: string[] = [];
  const watched: typeof fetch = (input, init) => {
    const headers = new Headers(init?.headers ?? (input instanceof Request ? input.headers : undefined));
    sent.push(`${input instanceof Request ? input.url : input} ${JSON.stringify([...headers])}`);
    return fetch(input, init);
  };
  const auth = { forCall: async () => ({ headers: {}, query: { key: "alices-key" } }), refused: () => false };
  await using caller = await connectAgent(own.url, { auth, fetch: watched });
  await caller.run("hi");
  expect(sent.length).toBeGreaterThan(1);
  expect(sent.join("\n")).not.toContain("alices-key");
  await own.close({ graceMs: 0 });
});
