import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect } from "vitest";
import { field, fieldsOf } from "../../../packages/cli/test-support/fields.ts";
import { startRecordingAgent } from "../../../packages/cli/test-support/recording-agent.ts";
import { at, startSick } from "../../../packages/cli/test-support/sick-server.ts";
import { collectChecks } from "../check.ts";

/** `card get`, and what the card decides. */
export const cards = collectChecks((shows) => {
  shows(
    "A2ACLI_CARD_GET_001",
    "takes a host, a URL and a file for an agent",
    async ({ agent, a2a, directory }) => {
      const cardUrl = `${agent.url}/.well-known/agent-card.json`;
      const file = join(directory, "a-card.json");
      await writeFile(file, await (await fetch(cardUrl)).text());
      const references = [new URL(agent.url).host, agent.url, cardUrl, file, pathToFileURL(file).href];
      const cards = await Promise.all(
        references.map((reference) => a2a("card", "get", "-a", reference, "-o", "json")),
      );
      for (const { stdout, exitCode } of cards) {
        expect([JSON.parse(stdout), exitCode]).toStrictEqual([JSON.parse(cards[0]?.stdout ?? ""), 0]);
      }
      expect(JSON.parse(cards[0]?.stdout ?? "")).toMatchObject({ name: "controlled" });
    },
  );

  shows(
    "A2ACLI_CARD_GET_001",
    "shows what a card declares, and calls what it names",
    async ({ agent, ask }) => {
      const { stdout } = await ask("card", "get");
      expect([...fieldsOf(stdout).keys()]).toEqual(
        expect.arrayContaining([
          "Agent",
          "Streaming",
          "Push Notifications",
          "Extended Card",
          "Interface",
          "Skill",
        ]),
      );
      expect(field(stdout, "Streaming")).toBe("yes");
      expect(fieldsOf(stdout).get("Interface")?.[0]).toBe(`JSONRPC 1.0 at ${agent.url}/rpc`);
      const { stderr } = await ask("send", "echo x", "--debug");
      expect(stderr).toContain(`calls go to ${agent.url}/rpc`);
    },
  );

  shows("A2ACLI_ERR_CARD_NOT_FOUND", "says that there is no card", async ({ a2a }) => {
    await using server = await startSick(at({}));
    const { stdout, exitCode } = await a2a("card", "get", server.url, "-o", "json");
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: "A2ACLI_ERR_CARD_NOT_FOUND", a2aCode: null } });
    expect(exitCode).toBe(3);
  });

  shows(
    ["A2ACLI_CARD_GET_002", "A2ACLI_ERR_CARD_INVALID"],
    "validates a card, and lists what is wrong with one",
    async ({ ask, a2a, directory }) => {
      const valid = await ask("card", "get", "--validate");
      expect([field(valid.stdout, "Valid"), valid.exitCode]).toEqual(["yes", 0]);
      const file = join(directory, "wrong-card.json");
      await writeFile(file, JSON.stringify({ name: "wrong", skills: 7 }));
      const { stdout, stderr, exitCode } = await a2a("card", "get", "--validate", "-a", file);
      expect(fieldsOf(stdout).get("Problem")).toContain("description is missing");
      expect(stderr).toContain("A2ACLI_ERR_CARD_INVALID");
      expect(exitCode).toBe(1);
    },
  );

  shows(
    ["A2ACLI_CARD_GET_003", "A2ACLI_AUTH_008"],
    "gets an extended card with what the public card asks for, and with nothing that it does not",
    async ({ a2a }) => {
      const extended = { capabilities: { extendedAgentCard: true } };
      await using open = await startRecordingAgent(extended);
      await using guarded = await startRecordingAgent({
        ...extended,
        securitySchemes: { b: { httpAuthSecurityScheme: { scheme: "Bearer" } } },
        securityRequirements: [{ schemes: { b: { list: [] } } }],
      });
      const get = (url: string, ...flags: string[]) => a2a("card", "get", "--extended", "-a", url, ...flags);
      expect((await get(guarded.url, "--bearer", "tok-1")).exitCode).toBe(0);
      expect((await get(open.url, "--bearer", "tok-1")).exitCode).toBe(0);
      const credentials = ({ requests }: typeof open) =>
        requests.map(({ headers }) => headers["authorization"]);
      expect(credentials(guarded)).toEqual([undefined, "Bearer tok-1"]); // the public card, then the extended one
      expect(credentials(open)).toEqual([undefined, undefined]);
      const missing = await get(guarded.url);
      expect(missing.stderr).toContain("A2ACLI_ERR_CREDENTIALS_MISSING");
    },
  );

  shows(
    "A2ACLI_CARD_GET_004",
    "verifies signatures and says what came of it; without a key they are not verified, and none at all are no failure",
    async ({ a2a, ask, directory }) => {
      const file = join(directory, "signed-card.json");
      const [key, stranger] = [join(directory, "signer"), join(directory, "stranger")];
      await writeFile(file, (await ask("card", "get", "-o", "json")).stdout);
      await a2a("keys", "new", "--out", `${key}.json`);
      await a2a("keys", "new", "--out", `${stranger}.json`);
      expect(await a2a("card", "sign", file, "--key", `${key}.json`, "--in-place")).toMatchObject({
        exitCode: 0,
      });
      const card = JSON.parse(await readFile(file, "utf8"));
      const look = async (served: object, ...flags: string[]) => {
        await using agent = await startRecordingAgent({ ...served });
        const { stdout, exitCode } = await a2a("card", "get", agent.url, ...flags);
        return [field(stdout, "Signature"), exitCode];
      };
      expect(await look(card, "--key", `${key}.public.json`)).toEqual([
        expect.stringMatching(/^1, verified: /),
        0,
      ]);
      expect(await look({ ...card, name: "Somebody else" }, "--key", `${key}.public.json`)).toEqual([
        expect.stringMatching(/^1, NOT VERIFIED \(signature-mismatch\)/),
        1,
      ]);
      expect(await look(card, "--key", `${stranger}.public.json`)).toEqual([
        expect.stringMatching(/^1, NOT VERIFIED \(key-unknown\)/),
        1,
      ]);
      expect(await look(card)).toEqual([expect.stringMatching(/^1, not verified/), 0]);
      const { stdout: unsigned, exitCode } = await ask("card", "get");
      expect([field(unsigned, "Signature"), exitCode]).toEqual(["absent", 0]);
    },
  );

  shows(
    "A2ACLI_VER_003",
    "uses streams, webhooks and extended cards only where the card has them",
    async ({ silent, a2a }) => {
      await using recorder = await startRecordingAgent();
      for (const argv of [
        ["card", "get", "--extended"],
        ["task", "push-config", "list", "t"],
      ]) {
        expect((await a2a(...argv, "-a", recorder.url)).exitCode).toBe(1);
      }
      expect(recorder.calls).toEqual([]);
      const { stderr, exitCode } = await a2a("send", "task x", "--stream", "--debug", "-a", silent.url);
      expect(stderr).not.toContain("SendStreamingMessage");
      expect(exitCode).toBe(0);
    },
  );

  shows(
    "A2ACLI_VER_002",
    "declares an extension that an agent requires when it speaks it, and none that it does not",
    async ({ a2a }) => {
      const lifecycle = "urn:a2a-connect:ext:lifecycle:v1";
      const requiring = (uri: string) =>
        startRecordingAgent({ capabilities: { extensions: [{ uri, required: true }] } });
      await using known = await requiring(lifecycle);
      await a2a("send", "hello", "-a", known.url);
      expect(known.calls[0]?.headers["a2a-extensions"]).toBe(lifecycle);
      await using unknown = await requiring("urn:example:unknown");
      await a2a("send", "hello", "-a", unknown.url);
      expect(unknown.calls[0]?.headers["a2a-extensions"]).toBeUndefined();
    },
  );
});
