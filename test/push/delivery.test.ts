import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createJsonRpcTransport } from "@a2a-connect/bindings/client";
import {
  accept,
  answer,
  cut,
  cutBody,
  hang,
  type Receiver,
  type Reply,
  startReceiver,
} from "@a2a-connect/conformance";
import { serve } from "@a2a-connect/node";
import { A2AService, Role } from "@a2a-connect/proto";
import { defineAgent, type LogRecord } from "@a2a-connect/server";
import { createClient } from "@connectrpc/connect";
import { describe, expect, it, onTestFinished } from "vitest";

/** Its task is created, begins, gets eight chunks and completes: 11 events, at once. */
const agent = defineAgent({
  card: { name: "Sender" },
  async *execute(turn) {
    yield turn.working();
    for (let chunk = 1; chunk <= 8; chunk += 1) yield turn.append("text", `chunk ${chunk} grüßt `);
  },
});
const allEvents = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];

const push = { allow: ["127.0.0.1"], timeoutMs: 250, retry: { initialMs: 10, maxMs: 40 } };

/** A server whose tasks are in a file, with a client; `again` closes it and starts another on the same file. */
async function startServer() {
  const directory = mkdtempSync(join(tmpdir(), "a2a-push-"));
  const log: LogRecord[] = [];
  const options = {
    file: join(directory, "tasks.sqlite"),
    push,
    log: (record: LogRecord) => log.push(record),
  };
  let served = await serve(agent, options);
  onTestFinished(async () => {
    await served.close({ graceMs: 0 });
    rmSync(directory, { recursive: true, force: true });
  });
  return {
    log,
    async send(url: string) {
      const transport = createJsonRpcTransport({ url: `${served.url}/rpc` });
      const { payload } = await createClient(A2AService, transport).sendMessage({
        message: { messageId: "m", role: Role.USER, parts: [{ content: { case: "text", value: "go" } }] },
        configuration: {
          taskPushNotificationConfig: {
            url,
            token: "the-token",
            authentication: { scheme: "Bearer", credentials: "the-credentials" },
          },
        },
      });
      return payload;
    },
    async again() {
      await served.close({ graceMs: 0 });
      served = await serve(agent, options);
    },
  };
}

/** Event ids that a webhook got, in order; one that came again at once counts once. */
function deliveredAt({ requests }: Receiver, path = "/hook"): readonly number[] {
  const ids = requests.filter((request) => request.path === path).map(({ eventId }) => eventId);
  return ids.filter((id, index) => id !== ids[index - 1]);
}

const complete = (receiver: Receiver) => receiver.until((requests) => requests.at(-1)?.eventId === 11);

describe("a webhook that misbehaves", () => {
  for (const [name, reply, comesAgain] of [
    ["answers 500", answer(500), true],
    ["answers 410", answer(410), true],
    ["cuts the connection", cut, true],
    ["hangs", hang, true],
    ["cuts its own answer after the status, which counts,", cutBody, false],
  ] satisfies [string, Reply, boolean][]) {
    it(`and ${name} gets every event, in order, and the task goes on meanwhile (N-4, N-5)`, async () => {
      await using receiver = await startReceiver();
      const server = await startServer();
      receiver.replyNext(accept, reply, accept, accept, reply);
      const payload = await server.send(`${receiver.url}/hook`);
      expect(payload.case).toBe("task");
      await complete(receiver);
      expect(deliveredAt(receiver)).toEqual(allEvents);
      const [, replied, next] = receiver.requests;
      expect(next?.eventId === replied?.eventId).toBe(comesAgain);
      expect(JSON.stringify(server.log)).not.toMatch(/the-token|the-credentials|hook\//);
    });
  }

  it("and redirects is not followed (N-6)", async () => {
    await using receiver = await startReceiver();
    const server = await startServer();
    receiver.replyNext(
      ...[301, 302, 303, 307, 308].map((status) => answer(status, "Location: /elsewhere\r\n")),
    );
    await server.send(`${receiver.url}/hook`);
    await complete(receiver);
    expect(deliveredAt(receiver)).toEqual(allEvents);
    expect(deliveredAt(receiver, "/elsewhere")).toEqual([]);
    expect(receiver.requests.filter(({ eventId }) => eventId === 1)).toHaveLength(6);
  });

  it("and hangs does not keep another from its events", async () => {
    await using stuck = await startReceiver();
    await using receiver = await startReceiver();
    const server = await startServer();
    stuck.replyNext(...Array.from({ length: 1_000 }, () => hang));
    for (let task = 1; task <= 40; task += 1) await server.send(`${stuck.url}/hook`);
    await server.send(`${receiver.url}/hook`);
    await complete(receiver);
    expect(deliveredAt(receiver)).toEqual(allEvents);
    expect(new Set(stuck.requests.map(({ eventId }) => eventId))).toEqual(new Set([1]));
  });
});

describe("a restart", () => {
  it("loses no event and keeps their order, wherever it comes", async () => {
    await using receiver = await startReceiver();
    const server = await startServer();
    for (const id of allEvents) receiver.replyNext(...(id % 3 === 0 ? [hang, accept] : [accept]));
    await server.send(`${receiver.url}/hook`);
    for (const id of [3, 6, 9]) {
      await receiver.until((requests) => requests.at(-1)?.eventId === id);
      await server.again();
    }
    await complete(receiver);
    expect(deliveredAt(receiver)).toEqual(allEvents);
  });
});
