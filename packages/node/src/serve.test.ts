import { once } from "node:events";
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import {
  type AgentDefinition,
  type Clock,
  createMemoryTaskStore,
  type LogRecord,
  systemClock,
} from "@a2a-connect/server";
import { createSqliteTaskStore } from "@a2a-connect/store-sqlite";
import { createSelfSignedCertificate } from "@a2a-connect/testing";
import { afterAll, describe, expect, it, vi } from "vitest";
import { aborted } from "../test-support/handlers.ts";
import { serve } from "./serve.ts";
import type { ServeOptions } from "./serve-options.ts";

const directory = mkdtempSync(join(tmpdir(), "a2a-serve-"));
afterAll(() => rmSync(directory, { recursive: true }));

describe("serve", () => {
  it.each([
    [true, "inspector/inspector-"],
    [false, "An A2A agent."],
  ])("gives browsers a page at / (inspector: %s)", async (inspector, expected) => {
    await using served = await serve(agent(), { store: createMemoryTaskStore(), inspector });
    const page = await fetch(served.url, { headers: { accept: "text/html" } });
    expect(await page.text()).toContain(expected);
  });

  it("lets go of its file when the port is taken", async () => {
    const file = join(directory, "taken.sqlite");
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const address = other.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    await expect(serve(agent(), { file, port })).rejects.toMatchObject({ code: "EADDRINUSE" });
    other.close();
    const served = await serve(agent(), { file });
    expect((await fetch(`${served.url}/healthz`)).status).toBe(200);
    await served.close({ graceMs: 0 });
  });

  it.each([
    ["its port is taken", "EADDRINUSE", (port: number): ServeOptions => ({ port })],
    [
      "its TLS key is another's",
      "ERR_OSSL_X509_KEY_VALUES_MISMATCH",
      (): ServeOptions => ({
        tls: { cert: createSelfSignedCertificate().cert, key: createSelfSignedCertificate().key },
      }),
    ],
  ])("leaves all tasks as they are when %s", async (_, code, wrong) => {
    const file = join(directory, `${code}.sqlite`);
    const turns = new Turns();
    const first = await serve(turns.agent, { file });
    const begun = await sendAhead(first.url);
    await turns.begun;
    const waiting = [await sendAhead(first.url), await sendAhead(first.url)];
    await first.close({ graceMs: 0 });
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    const log = vi.fn();
    for (let start = 0; start < 2; start += 1) {
      await expect(serve(turns.agent, { file, log, ...wrong(port) })).rejects.toMatchObject({ code });
    }
    other.close();
    expect([turns.count, log.mock.calls]).toEqual([1, []]);
    turns.mayEnd = true;
    await using served = await serve(turns.agent, { file });
    const states = await Promise.all([begun, ...waiting].map((id) => lastState(served.url, id)));
    expect(states).toEqual(["TASK_STATE_FAILED", "TASK_STATE_COMPLETED", "TASK_STATE_COMPLETED"]);
    expect(turns.count).toBe(3);
  });

  for (const [option, wrong] of [
    ["publicUrl", { publicUrl: "ftp://agents.example.org" }],
    ["retentionMs", { retentionMs: -1 }],
  ] as const) {
    it(`lets go of its file when ${option} makes no sense`, async () => {
      const file = join(directory, `${option}.sqlite`);
      await expect(serve(agent(), { file, ...wrong })).rejects.toThrow();
      const served = await serve(agent(), { file });
      expect((await fetch(`${served.url}/healthz`)).status).toBe(200);
      await served.close({ graceMs: 0 });
    });
  }

  it("lets go of its file when it does not stop as it should, and says so", async () => {
    const file = join(directory, "broken-stop.sqlite");
    let isBroken = false;
    const clock: Clock = {
      ...systemClock,
      schedule(...timer) {
        if (isBroken) throw new Error("there is no time any more");
        return systemClock.schedule(...timer);
      },
    };
    const broken = await serve(agent(), { file, clock });
    isBroken = true;
    await expect(broken.close({ graceMs: 0 })).rejects.toThrow("there is no time any more");
    const served = await serve(agent(), { file });
    expect((await fetch(`${served.url}/healthz`)).status).toBe(200);
    await served.close({ graceMs: 0 });
  });

  it("tells on stderr what an executor has thrown, a line of JSON each where no person reads", async () => {
    const written = vi.spyOn(console, "error").mockImplementation(() => {});
    const broken = agent(async () => {
      throw new Error("OPENAI_API_KEY is not set");
    });
    const served = await serve(broken, { store: createMemoryTaskStore() });
    await send(served.url);
    await served.close({ graceMs: 0 });
    expect(written.mock.calls.map(([line]) => JSON.parse(line))).toContainEqual(
      expect.objectContaining({
        level: "error",
        message: "an executor failed",
        error: expect.stringMatching(/^Error: OPENAI_API_KEY is not set\n\s+at .*serve\.test\.ts:\d+/),
      }),
    );
  });

  for (const [what, options, warns] of [
    ["on all addresses", { host: "0.0.0.0", open: true }, true],
    [
      "on all addresses, with a public URL",
      { host: "0.0.0.0", open: true, publicUrl: "https://agents.example" },
      false,
    ],
    [
      "on all addresses, behind a proxy",
      { host: "0.0.0.0", open: true, trustedProxies: ["10.0.0.0/8"] },
      false,
    ],
    ["on this machine", {}, false],
  ] as const) {
    it(`${warns ? "warns" : "does not warn"} that the card says localhost when it listens ${what}`, async () => {
      const messages: string[] = [];
      const log = ({ message }: LogRecord) => messages.push(message);
      const served = await serve(agent(), { store: createMemoryTaskStore(), log, ...options });
      await served.close({ graceMs: 0 });
      expect(messages.filter((message) => message.includes("set its public URL"))).toHaveLength(
        warns ? 1 : 0,
      );
    });
  }

  it("answers a send that was in flight when it was told to stop", async () => {
    const begun = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const served = await serve(
      agent(async () => {
        begun.resolve();
        await goOn.promise;
      }),
      { file: join(directory, "in-flight.sqlite") },
    );
    const answer = send(served.url);
    await begun.promise;
    const closing = served.close();
    goOn.resolve();
    expect(await answer).toContain("TASK_STATE_COMPLETED");
    await closing;
  });

  it("tells a stream that stays open why it ends (K-8)", async () => {
    const served = await serve(agent(), { file: join(directory, "stream.sqlite") });
    const asked: unknown = JSON.parse(await send(served.url, "ask"));
    const { id } = (asked as { task: { id: string } }).task;
    const stream = await fetch(`${served.url}/rest/tasks/${id}:subscribe`, {
      headers: { "a2a-version": "1.0" },
    });
    await served.close({ graceMs: 0 });
    const events = (await stream.text()).trim().split("\n\n");
    expect(events).toHaveLength(2);
    expect(events[0]).toContain("TASK_STATE_INPUT_REQUIRED");
    expect(events[1]).toContain('"status":"UNAVAILABLE"');
  });
});

describe("serve of several agents", () => {
  it("keeps the tasks of each in a file by its name, and opens them again", async () => {
    const folder = join(directory, "several");
    const first = await serve({ one: agent(), two: agent() }, { directory: folder });
    const asked: unknown = JSON.parse(await send(first.agents.two.url, "ask"));
    const { id } = (asked as { task: { id: string } }).task;
    await first.close({ graceMs: 0 });
    expect(readdirSync(folder)).toEqual(expect.arrayContaining(["one.sqlite", "two.sqlite"]));
    const again = await serve({ one: agent(), two: agent() }, { directory: folder });
    const statusOf = async (url: string) =>
      (await fetch(`${url}/rest/tasks/${id}`, { headers: { "a2a-version": "1.0" } })).status;
    expect(await statusOf(again.agents.two.url)).toBe(200);
    expect(await statusOf(again.agents.one.url)).toBe(404);
    await again.close({ graceMs: 0 });
  });

  it("gives each what is for all, and what is for it alone", async () => {
    const store = createMemoryTaskStore();
    await using served = await serve(
      {
        card: { agent: agent(), store, push: true },
        plain: { agent: agent(), store: createMemoryTaskStore() },
      },
      { streaming: false },
    );
    const { card, plain } = served.agents;
    expect(card.card.capabilities).toMatchObject({ streaming: false, pushNotifications: true });
    expect(plain.card.capabilities).toMatchObject({ streaming: false, pushNotifications: false });
  });

  it.each(["../outside", "tasks", "A"])("opens nothing for an agent called %s", async (name) => {
    const folder = join(directory, "names");
    await expect(serve({ [name]: agent() }, { directory: join(folder, "inner") })).rejects.toThrow("agent");
    expect(existsSync(folder)).toBe(false);
  });

  it("lets go of every file when one of them cannot be had", async () => {
    const folder = join(directory, "half");
    const broken = { agent: agent(), file: directory };
    await expect(serve({ good: agent(), broken }, { directory: folder })).rejects.toThrow();
    await using served = await serve({ good: agent() }, { directory: folder });
    expect((await fetch(`${served.url}/healthz`)).status).toBe(200);
  });

  it.each(["tasks_unfinished", "tasks_due"])(
    "leaves the tasks of all as they are while the store of one is damaged: %s",
    async (index) => {
      const files = {
        good: join(directory, `good-${index}.sqlite`),
        bad: join(directory, `bad-${index}.sqlite`),
      };
      const turns = new Turns();
      const start = () =>
        serve({
          good: { agent: turns.agent, file: files.good },
          bad: { agent: agent(), store: createSqliteTaskStore({ file: files.bad, maxCheckedBytes: 0 }) }, // as a large one is
        });
      const first = await start();
      const { url } = first.agents.good;
      const begun = await sendAhead(url);
      await turns.begun;
      const waiting = [await sendAhead(url), await sendAhead(url)];
      await first.close({ graceMs: 0 });
      copyFileSync(files.bad, `${files.bad}-copy`);
      damage(files.bad, index);
      for (let attempt = 0; attempt < 2; attempt += 1) {
        await expect(start()).rejects.toThrow('the agent "bad" cannot start: the task store is damaged');
      }
      expect(turns.count).toBe(1);
      copyFileSync(`${files.bad}-copy`, files.bad);
      turns.mayEnd = true;
      await using served = await start();
      const states = await Promise.all(
        [begun, ...waiting].map((id) => lastState(served.agents.good.url, id)),
      );
      expect(states).toEqual(["TASK_STATE_FAILED", "TASK_STATE_COMPLETED", "TASK_STATE_COMPLETED"]);
      expect(turns.count).toBe(3);
    },
  );

  it("tells nobody to come any more while it stops, and lets all of them finish", async () => {
    const begun = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const busy = agent(async () => {
      begun.resolve();
      await goOn.promise;
    });
    const served = await serve({
      busy: { agent: busy, store: createMemoryTaskStore() },
      idle: { agent: agent(), store: createMemoryTaskStore() },
    });
    const answer = send(served.agents.busy.url);
    await begun.promise;
    const closing = served.close();
    goOn.resolve();
    expect(await answer).toContain("TASK_STATE_COMPLETED");
    await closing;
    await expect(fetch(`${served.url}/readyz`)).rejects.toThrow();
  });
});

function agent(work: () => Promise<void> = async () => {}): AgentDefinition {
  return {
    card: { name: "Agent" },
    async *execute(turn) {
      await work();
      if (turn.text === "ask") yield turn.inputRequired("What?");
    },
  };
}

/** Counts the turns of an agent that has one at a time. They go on until they are told to stop, or may end. */
class Turns {
  readonly #begun = Promise.withResolvers<void>();
  count = 0;
  mayEnd = false;

  /** Resolves with the first. */
  get begun(): Promise<void> {
    return this.#begun.promise;
  }

  get agent(): AgentDefinition {
    const turns = this;
    return {
      card: { name: "Agent" },
      maxRunning: 1,
      async *execute(turn) {
        turns.count += 1;
        turns.#begun.resolve();
        if (!turns.mayEnd) await aborted(turn.signal);
        yield turn.artifact({ text: "done" });
      },
    };
  }
}

/** Damages an index of a store that is closed. */
function damage(file: string, index: string): void {
  const database = new DatabaseSync(file);
  const { rootpage } = database.prepare("select rootpage from sqlite_schema where name = ?").get(index) ?? {};
  const { page_size: pageSize } = database.prepare("pragma page_size").get() ?? {};
  database.close();
  const bytes = readFileSync(file);
  const from = (Number(rootpage) - 1) * Number(pageSize);
  writeFileSync(file, bytes.fill(0xa5, from, from + Number(pageSize)));
}

/** Sends a message without waiting for the end of its task. @returns the task's id */
async function sendAhead(url: string): Promise<string> {
  const answer: unknown = JSON.parse(await send(url, "go", { returnImmediately: true }));
  return (answer as { task: { id: string } }).task.id;
}

/** The state in which a task ends. */
async function lastState(url: string, id: string): Promise<string | undefined> {
  const header = { "a2a-version": "1.0" };
  const stream = await fetch(`${url}/rest/tasks/${id}:subscribe`, { headers: header });
  await stream.text();
  const task: unknown = await (await fetch(`${url}/rest/tasks/${id}`, { headers: header })).json();
  return (task as { status: { state: string } }).status.state;
}

async function send(url: string, text = "go", configuration: object = {}): Promise<string> {
  const response = await fetch(`${url}/rest/message:send`, {
    method: "POST",
    headers: { "a2a-version": "1.0", "content-type": "application/json" },
    body: JSON.stringify({
      message: { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text }] },
      configuration,
    }),
  });
  return response.text();
}
