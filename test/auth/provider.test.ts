// A real OpenID provider, found by its issuer: 50 agents trust it, and clients find it by the agents.

import { basic, hashPassword, oauth2, openIdConnect } from "@a2a-connect/auth";
import { serve } from "@a2a-connect/node";
import { createMemoryTaskStore, defineAgent } from "@a2a-connect/server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { audience } from "./issuer.ts";
import { checker, client, scopes, startProvider } from "./provider.ts";

const agent = defineAgent({
  card: { name: "Guarded" },
  *execute(turn) {
    yield turn.reply(turn.caller.principal);
  },
});
const body = (text = "hi") =>
  JSON.stringify({ message: { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text }] } });
const send = (url: string, headers: Record<string, string>) =>
  fetch(`${url}/rest/message:send`, {
    method: "POST",
    headers: { "a2a-version": "1.0", "content-type": "application/json", ...headers },
    body: body(),
  });
const principalOf = async (response: Response) => (await response.json()).message?.parts[0].text;
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

let provider: Awaited<ReturnType<typeof startProvider>>;
beforeAll(async () => {
  provider = await startProvider();
});
afterAll(() => provider.close());

it("50 agents know a caller by one provider, whose keys are fetched once", async () => {
  const auth = { gates: { id: openIdConnect({ issuer: provider.issuer, audience }) } };
  const agents = Object.fromEntries(
    Array.from({ length: 50 }, (_, index) => [`agent-${index}`, { agent, store: createMemoryTaskStore() }]),
  );
  const served = await serve(agents, { auth, shutdown: false });
  const token = await provider.token(audience);
  const answers = await Promise.all(
    Object.values(served.agents).map(async ({ url }) => principalOf(await send(url, bearer(token)))),
  );
  expect(new Set(answers)).toEqual(new Set([`${provider.issuer}|${client.id}`]));
  expect(["/.well-known/openid-configuration", "/jwks"].map((path) => provider.asked.get(path))).toEqual([
    1, 1,
  ]);

  const { url } = served.agents["agent-7"] ?? { url: "" };
  const refused = await send(url, bearer(await provider.token("https://other.example")));
  const metadataUrl = `${url}/.well-known/oauth-protected-resource`;
  expect([refused.status, refused.headers.get("www-authenticate")]).toEqual([
    401,
    `Bearer resource_metadata="${metadataUrl}", error="invalid_token", error_description="the token is for another audience"`,
  ]);
  const metadata = await (await fetch(metadataUrl)).json();
  expect(metadata).toEqual({
    resource: url,
    authorization_servers: [provider.issuer],
    scopes_supported: scopes.split(" "),
    bearer_methods_supported: ["header"],
  });
  const atRoot = await fetch(`${served.url}/.well-known/oauth-protected-resource/agents/agent-7`);
  expect(await atRoot.json()).toEqual(metadata);
  const card = await (await fetch(`${url}/.well-known/agent-card.json`)).json();
  expect(card.securitySchemes.id).toMatchObject({
    openIdConnectSecurityScheme: { openIdConnectUrl: `${provider.issuer}/.well-known/openid-configuration` },
  });
  await served.close({ graceMs: 0 });
});

it("an opaque token counts until the provider takes it back", async () => {
  let time = Date.now();
  const resource = `${audience}/opaque`;
  const gate = oauth2({
    issuer: provider.issuer,
    audience: resource,
    flows: {
      flow: {
        case: "clientCredentials",
        value: { tokenUrl: `${provider.issuer}/token`, scopes: { "a2a:tasks:read": "Read" } },
      },
    },
    introspection: { clientId: checker.id, clientSecret: checker.secret },
    now: () => time,
    // This provider has its metadata for OpenID Connect alone.
    fetch: (input, init) =>
      fetch(String(input).replace("oauth-authorization-server", "openid-configuration"), init),
  });
  const served = await serve(agent, {
    auth: { gates: { oauth: gate } },
    store: createMemoryTaskStore(),
    shutdown: false,
  });
  const token = await provider.token(resource);
  expect(token).not.toContain(".");
  const before = provider.asked.get("/token/introspection") ?? 0;
  const answers = await Promise.all(Array.from({ length: 20 }, () => send(served.url, bearer(token))));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  expect(await principalOf(await send(served.url, bearer(token)))).toBe(`${provider.issuer}|${client.id}`);
  expect((provider.asked.get("/token/introspection") ?? 0) - before).toBe(1);
  await provider.revoke(token);
  time += 10_001;
  const refused = await send(served.url, bearer(token));
  expect([refused.status, (await refused.json()).error.message]).toEqual([401, "the token is not active"]);
  const foreign = await send(served.url, bearer(await provider.token("https://other.example/opaque")));
  expect([foreign.status, (await foreign.json()).error.message]).toEqual([
    401,
    "the token is for another audience",
  ]);
  await served.close({ graceMs: 0 });
});

describe("a password", () => {
  it("is right for its user alone, and is not told from a wrong user", async () => {
    const users = { alice: { hash: await hashPassword("pass:word") } };
    const served = await serve(agent, {
      auth: { gates: { user: basic({ users }) } },
      store: createMemoryTaskStore(),
      shutdown: false,
    });
    const as = (pair: string) => send(served.url, { authorization: `Basic ${btoa(pair)}` });
    expect(await principalOf(await as("alice:pass:word"))).toBe("user:alice");
    expect(await principalOf(await as("alice:pass:word"))).toBe("user:alice");
    for (const pair of ["alice:wrong", "mallory:pass:word", ":pass:word", "alice"]) {
      const refused = await as(pair);
      expect([pair, refused.status]).toEqual([pair, 401]);
      expect(refused.headers.get("www-authenticate")).toBe('Basic realm="agents", charset="UTF-8"');
    }
    const messages = await Promise.all(
      ["alice:wrong", "mallory:wrong"].map(async (pair) => (await (await as(pair)).json()).error.message),
    );
    expect(messages).toEqual(["the user or the password is wrong", "the user or the password is wrong"]);
    await served.close({ graceMs: 0 });
  });
});
