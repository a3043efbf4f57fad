import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import type { ClientHttp2Session } from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AgentDefinition } from "@a2a-connect/server";
import { afterAll, describe, expect, it, vi } from "vitest";
import { json, readBytes } from "../test-support/handlers.ts";
import { callHttp2, openHttp2 } from "../test-support/http2-call.ts";
import { openRawConnection, type RawConnection } from "../test-support/raw-connection.ts";
import { type Listener, listen } from "./port/listen.ts";
import { serve } from "./serve.ts";
import type { ServeOptions } from "./serve-options.ts";
import { startServing } from "./serving.ts";

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

describe("a server that takes long to start", () => {
  it("answers what was asked before as soon as it has started", async () => {
    const slow = new SlowServer();
    const serving = startServing([], () => slow, slow);
    const url = await slow.starting;
    using connection = await openAsking(url);
    using session = openHttp2(url);
    const answer = callHttp2(session, {});
    await answersPing(session);
    expect([slow.handled, await connection.until("")]).toEqual([0, proceed]);
    slow.started.resolve();
    expect((await answer).body).toBe('"ok"');
    await connection.until('"ok"');
    await (await serving).close({ graceMs: 0 });
    expect([slow.handled, slow.log.mock.calls]).toEqual([2, []]);
  });

  it("cuts what was asked before when the start fails, and leaves nothing open", async () => {
    const slow = new SlowServer();
    const serving = startServing([], () => slow, slow);
    const url = await slow.starting;
    using connection = await openAsking(url);
    using session = openHttp2(url);
    session.request({}).on("error", () => undefined);
    await answersPing(session);
    const cut = once(session, "close");
    slow.started.reject(new Error("the store is gone"));
    await expect(serving).rejects.toThrow("the store is gone");
    await cut;
    expect(await connection.closed()).toBe(proceed);
    await expect(openAsking(url)).rejects.toMatchObject({ code: "ECONNREFUSED" });
    expect([slow.handled, slow.closed, slow.log.mock.calls]).toEqual([0, 1, []]);
  });
});

/** The server writes it when a request that expects it has come. */
const proceed = "HTTP/1.1 100 Continue\r\n\r\n";

/** A connection on which a request of HTTP/1.1 has arrived. */
async function openAsking(url: string): Promise<RawConnection> {
  const connection = await openRawConnection(Number(new URL(url).port));
  await connection.write("GET / HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\n\r\n");
  await connection.until(proceed);
  return connection;
}

/** Resolves when all that was sent before has arrived. */
function answersPing(session: ClientHttp2Session): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const ping = () => session.ping((error) => (error === null ? resolve() : reject(error)));
  if (session.connecting) session.once("connect", ping);
  else ping();
  return promise;
}

/** A server that starts when it is told to, and counts what is asked of it. */
class SlowServer {
  readonly #starting = Promise.withResolvers<string>();
  #url = "it has no URL yet";
  readonly started = Promise.withResolvers<void>();
  readonly log = vi.fn();
  handled = 0;
  closed = 0;

  /** Resolves with the server's URL when it begins to start. */
  get starting(): Promise<string> {
    return this.#starting.promise;
  }

  readonly handle = async () => {
    this.handled += 1;
    return json("ok");
  };

  moveTo(url: string): void {
    this.#url = url;
  }

  start(): Promise<void> {
    this.#starting.resolve(this.#url);
    return this.started.promise;
  }

  drain(): void {}

  async stop(): Promise<void> {}

  async close(): Promise<void> {
    this.closed += 1;
  }
}

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
