// `a2a auth` logs in to an agent, and the command's calls have the token from then on.

import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openIdConnect } from "@a2a-connect/auth";
import { type ServedAgent, serve } from "@a2a-connect/node";
import { createMemoryTaskStore, defineAgent } from "@a2a-connect/server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCommand, spawnCommand, startCommand } from "../../packages/cli/test-support/run-command.ts";
import { audience } from "./issuer.ts";
import { browse, client, program, startProvider, type TestProvider } from "./provider.ts";

const agent = defineAgent({
  card: { name: "Guarded" },
  *execute(turn) {
    yield turn.reply(`Hello, ${turn.caller.principal}!`);
  },
});
const cwd = mkdtempSync(join(tmpdir(), "a2a-auth-"));
const file = join(cwd, ".local", "state", "a2a-cli", "logins.json");
const env = { CI_SECRET: client.secret, CI_ID: client.id };
let provider: TestProvider;
let served: ServedAgent;
beforeAll(async () => {
  provider = await startProvider();
  served = await serve(agent, {
    auth: { gates: { id: openIdConnect({ issuer: provider.issuer, audience }) } },
    store: createMemoryTaskStore(),
    shutdown: false,
  });
});
afterAll(async () => {
  await served.close({ graceMs: 0 });
  provider.close();
  rmSync(cwd, { recursive: true });
});

const a2a = (...argv: string[]) => runCommand(argv, { cwd, env });
const send = () => a2a("send", "hi", "-a", served.url);
const asMachine = ["--client-id", client.id, "--client-secret-env", "CI_SECRET", "--audience", audience];

describe("a2a auth", () => {
  it("says how to log in, where no credential is given", async () => {
    const { stderr, exitCode } = await send();
    expect(exitCode).toBe(4);
    expect(stderr).toMatch(
      /Guarded requires an OpenID Connect token \(id\); you gave none of these .*\nhint: .*a2a auth login/,
    );
  });

  it("logs in as a machine, keeps the token for its owner alone, and forgets it", async () => {
    const login = await a2a("auth", "login", "-a", served.url, ...asMachine);
    expect([login.exitCode, login.stderr]).toEqual([0, expect.stringContaining(file)]);
    expect(login.stdout).toMatch(new RegExp(`^${served.url}: client ${client.id}, until 20`));
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await send()).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(`|${client.id}!`) });
    const status = await a2a("auth", "status", "-o", "json");
    expect(JSON.parse(status.stdout)).toEqual({
      logins: [
        {
          agent: served.url.replace("localhost", "localhost"),
          client: client.id,
          expires: expect.any(String),
          renewable: false,
          valid: true,
        },
      ],
    });
    const out = await a2a("auth", "logout", new URL(served.url).host);
    expect([out.exitCode, out.stdout]).toEqual([0, `Logged out: ${served.url}\n`]);
    expect((await send()).exitCode).toBe(4);
  });

  it("waits for a user who logs in with a code on another device", async () => {
    const options = ["--client-id", program.id, "--audience", audience];
    const login = spawnCommand(["auth", "login", "-a", served.url, ...options], { cwd, env });
    const [, address = ""] = await login.waitFor(/^Open (http\S+) in a browser, and confirm the code/m);
    await browse(new URL(address), "bob");
    expect(await login.result).toMatchObject({ exitCode: 0 }); // after 5 s: the provider wants no sooner question
    expect(await send()).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("|bob!") });
  });

  it("logs a user in with a browser of this machine", async () => {
    const options = ["--client-id", program.id, "--audience", audience, "--browser"];
    const login = startCommand(["auth", "login", "-a", served.url, ...options], { cwd, env });
    const [, address = ""] = await login.waitFor(/log in:\s+(http\S+)/);
    const back = await browse(new URL(address));
    const forged = new URL(back);
    forged.searchParams.delete("state");
    expect((await fetch(forged)).status).toBe(404); // any page of the browser could ask for that
    expect(await (await fetch(back)).text()).toContain("You can close this window");
    expect(await login.result).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining("a2a renews it"),
    });
    expect(await send()).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("|alice!") });
    const everything = [login.printed, (await a2a("send", "hi", "-a", served.url, "--debug")).stderr].join();
    expect(everything).toContain("authorization: Bearer ***");
    expect(everything).not.toMatch(/eyJ/); // a token
  });

  it("refuses an agent that names no authorization server, and a secret that is not there", async () => {
    const open = await serve(agent, { store: createMemoryTaskStore(), shutdown: false });
    const login = await a2a("auth", "login", "-a", open.url, "--client-id", "x");
    expect([login.exitCode, login.stderr]).toEqual([
      2,
      expect.stringContaining("names no authorization server"),
    ]);
    await open.close({ graceMs: 0 });
    const unset = await a2a(
      "auth",
      "login",
      "-a",
      served.url,
      "--client-id",
      "x",
      "--client-secret-env",
      "NONE",
    );
    expect([unset.exitCode, unset.stderr]).toEqual([4, expect.stringContaining("export NONE=")]);
    const wrong = await runCommand(["auth", "login", "-a", served.url, ...asMachine], {
      cwd,
      env: { CI_SECRET: "guess" },
    });
    expect([wrong.exitCode, wrong.stderr]).toEqual([
      4,
      expect.stringContaining("gives no token: invalid_client"),
    ]);
    expect(wrong.stderr).not.toContain("guess");
  });
});

describe("a client of a2a.config.yaml", () => {
  const write = (auth: string) =>
    writeFileSync(
      join(cwd, "a2a.config.yaml"),
      `agents:\n  guarded:\n    url: ${served.url}\n    auth: ${auth}\n`,
    );

  it("gets its own tokens, once the user allows the file to have its secret", async () => {
    await a2a("auth", "logout", "--all");
    write(`{ clientIdEnv: CI_ID, clientSecretEnv: CI_SECRET, audience: ${audience} }`);
    const asked = await a2a("send", "hi", "-a", "guarded");
    expect([asked.exitCode, asked.stderr]).toEqual([
      2,
      expect.stringContaining("--allow-credential CI_SECRET"),
    ]);
    const allowed = await a2a("send", "hi", "-a", "guarded", "--allow-credential", "CI_SECRET");
    expect([allowed.exitCode, allowed.stdout]).toEqual([0, expect.stringContaining(`|${client.id}!`)]);
  });

  it("shows its secret to no other token URL than the file permits", async () => {
    const url = "https://id.example/token";
    write(`{ clientIdEnv: CI_ID, clientSecretEnv: CI_SECRET, tokenUrl: "${url}" }`);
    const sent = await a2a("send", "hi", "-a", "guarded", "--allow-credential", "CI_SECRET");
    expect([sent.exitCode, sent.stderr]).toEqual([
      4,
      expect.stringContaining(`and only ${url} is permitted`),
    ]);
  });
});
