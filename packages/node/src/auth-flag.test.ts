import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMemoryTaskStore, defineAgent } from "@a2a-connect/server";
import { afterAll, expect, it } from "vitest";
import { parseAuthFlag, serve } from "./index.ts";

const directory = mkdtempSync(join(tmpdir(), "a2a-auth-"));
afterAll(() => rmSync(directory, { recursive: true }));
const said: string[] = [];
const context = { audience: "http://localhost:4000", say: (sentence: string) => said.push(sentence) };

it("makes a file of keys, shows its key once, and takes the key", async () => {
  const file = join(directory, "keys.json");
  const auth = await parseAuthFlag(`api-key=${file}`, context);
  await parseAuthFlag(`api-key=${file}`, context);
  const [, key = ""] = /X-API-Key: (\S+)$/.exec(said.join()) ?? [];
  expect([said.length, statSync(file).mode & 0o777, readFileSync(file, "utf8").includes(key)]).toEqual([
    1,
    0o600,
    false,
  ]);
  const agent = defineAgent({ card: { name: "Echo" }, *execute() {} });
  const served = await serve(agent, { auth, store: createMemoryTaskStore(), shutdown: false });
  const status = async (headers: Record<string, string>) =>
    (await fetch(`${served.url}/rest/tasks`, { headers: { "a2a-version": "1.0", ...headers } })).status;
  expect([
    await status({ "x-api-key": key }),
    await status({ "x-api-key": "other" }),
    await status({}),
  ]).toEqual([200, 401, 401]);
  await served.close({ graceMs: 0 });
});

it("takes an OpenID provider", async () => {
  const { gates } = await parseAuthFlag("oidc=https://id.example.org/realms/a=b", context);
  expect(gates["oidc"]?.scheme.scheme?.value).toMatchObject({
    openIdConnectUrl: "https://id.example.org/realms/a=b/.well-known/openid-configuration",
  });
});

it.each([
  ["api-key", "--auth is oidc=ISSUER or api-key=FILE"],
  ["ldap=x", '--auth is oidc=ISSUER or api-key=FILE, not "ldap=x"'],
  ["oidc=http://id.example.org", "the issuer is an https URL"],
  [`api-key=${join(directory, "other.json")}`, "has no API keys"],
  [`api-key=${join(directory, "bad.json")}`, "is not what hashApiKey returns"],
])("says what is wrong: %s", async (text, sentence) => {
  writeFileSync(join(directory, "other.json"), '{ "alice": "secret" }');
  writeFileSync(join(directory, "bad.json"), '{ "alice": { "hash": "secret" } }');
  await expect(parseAuthFlag(text, context)).rejects.toThrow(sentence);
});
