import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AgentDefinition } from "@a2a-connect/server";
import { afterAll, describe, expect, it } from "vitest";
import { json, readBytes } from "../test-support/handlers.ts";
import { type Listener, listen } from "./port/listen.ts";
import { serve } from "./serve.ts";
import type { ServeOptions } from "./serve-options.ts";

const directory = mkdtempSync(join(tmpdir(), "a2a-push-"));
afterAll(() => rmSync(directory, { recursive: true }));

const agent: AgentDefinition = { card: { name: "Agent" }, async *execute() {} };

describe("push notifications of a served agent", () => {
  it("are off unless they are asked for", async () => {
    await using served = await start({});
    expect(served.card.capabilities?.pushNotifications ?? false).toBe(false);
    const answer = await send(served.url, "https://hooks.example/");
    expect(answer).toMatchObject({ error: { details: [{ reason: "PUSH_NOTIFICATION_NOT_SUPPORTED" }] } });
  });

  it("are for public https addresses only (N-6)", async () => {
    await using served = await start({ push: true });
    expect(served.card.capabilities?.pushNotifications).toBe(true);
    const rows = [
      ["http://hooks.example/", "must use https"],
      ["https://169.254.169.254/", "must not point to 169.254.169.254, which is not a public address"],
      ["https://localhost/", "must not point to localhost, which is the server itself"],
    ] as const;
    for (const [url, sentence] of rows) {
      const answer = await send(served.url, url);
      expect(answer).toMatchObject({ error: { status: "INVALID_ARGUMENT" } });
      expect(JSON.stringify(answer)).toContain(sentence);
    }
  });

  for (const [size, text] of [
    ["small", "go"],
    ["large", "\u0001é".repeat(500_000)],
  ] as const) {
    it(`reach what the allow list names, with their length, also ${size} ones (N-1, N-8)`, async () => {
      const received = Promise.withResolvers<[Headers, Uint8Array]>();
      await using webhook = await collect((header, body) => received.resolve([header, body]));
      await using served = await start({ push: { allow: [`localhost:${webhook.port}`] } });
      expect(await send(served.url, `http://localhost:${webhook.port}/hook`, text)).toHaveProperty("task");
      const [header, body] = await received.promise;
      expect(header.get("content-type")).toBe("application/a2a+json");
      expect(header.get("content-length")).toBe(String(body.length));
      expect(header.get("transfer-encoding")).toBeNull();
      expect(JSON.parse(new TextDecoder().decode(body))).toMatchObject({
        task: { history: [{ parts: [{ text }] }] },
      });
    });
  }

  it("go through a fetch of the operator's own", async () => {
    const asked = Promise.withResolvers<string>();
    const own: typeof fetch = async (input) => {
      asked.resolve(String(input));
      return new Response();
    };
    await using served = await start({ push: { fetch: own } });
    await send(served.url, "http://127.0.0.1/hook");
    expect(await asked.promise).toBe("http://127.0.0.1/hook");
  });

  it("do not start with an allow list that is not understood", async () => {
    await expect(start({ push: { allow: ["http://localhost"] } })).rejects.toThrow("an allowed address is");
  });
});

function start(options: ServeOptions) {
  return serve(agent, { file: join(directory, `${crypto.randomUUID()}.sqlite`), ...options });
}

function collect(onPost: (header: Headers, body: Uint8Array) => void): Promise<Listener> {
  return listen(async (request) => {
    onPost(request.header, await readBytes(request, 10_000_000));
    return json({});
  });
}

async function send(baseUrl: string, webhook: string, text = "go"): Promise<unknown> {
  const response = await fetch(`${baseUrl}/rest/message:send`, {
    method: "POST",
    headers: { "a2a-version": "1.0", "content-type": "application/json" },
    body: JSON.stringify({
      message: { messageId: "1", role: "ROLE_USER", parts: [{ text }] },
      configuration: { taskPushNotificationConfig: { url: webhook } },
    }),
  });
  return response.json();
}
