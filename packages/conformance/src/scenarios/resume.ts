import { findA2AError, findFieldViolations } from "@a2a-connect/core";
import { TaskState } from "@a2a-connect/proto";
import { Code } from "@connectrpc/connect";
import {
  casesOf,
  expectFields,
  expectReason,
  failureOf,
  firstTask,
  messageOf,
  newId,
  openReader,
  readAll,
  readHeader,
  type StreamReader,
  sendTask,
  showCode,
  statesOf,
  taskOf,
  toRequest,
} from "../calls.ts";
import { expect } from "../expect.ts";
import { capture, readSse } from "../raw-calls.ts";
import { jsonWires, type ScenarioGroup, scenarios } from "../scenario.ts";
import type { A2AClient } from "../target.ts";

/** A stream, and the header that tells the id of its first message. */
interface ResumedStream extends StreamReader {
  firstId(): string | null | undefined;
}

/** Subscribes, after an event when one is named. */
function subscribe(client: A2AClient, id: string, lastEventId?: number | string): ResumedStream {
  let header: Headers | undefined;
  const stream = client.subscribeToTask(
    { id },
    {
      ...(lastEventId === undefined ? {} : { headers: { "last-event-id": String(lastEventId) } }),
      onHeader: (received) => {
        header = received;
      },
    },
  );
  return { ...openReader(stream), firstId: () => header?.get("x-a2a-event-id") };
}

/** Sends, and reads everything that happens. */
async function transcriptOf(client: A2AClient, ...message: Parameters<typeof toRequest>) {
  const { answer: events, header: firstId } = await readHeader("x-a2a-event-id", (onHeader) =>
    readAll(client.sendStreamingMessage(toRequest(...message), { onHeader })),
  );
  return { events, firstId };
}

/** The `id:` lines of an SSE text; undefined for an event without one. */
function eventIds(text: string): (string | undefined)[] {
  const blocks = text.split("\n\n").filter((block) => block.includes("data: "));
  return blocks.map((block) => /^id: (.*)$/m.exec(block)?.[1]);
}

/** A.3 */
export const resume: ScenarioGroup = scenarios("A.3 Resuming a stream", ({ verifies }) => {
  verifies(
    "A-36",
    "gives every event after the one that is named, once and in order, also of a task that has ended",
    async ({ client }) => {
      const { events, firstId } = await transcriptOf(client, "stream 3");
      expect(events.length).toBeGreaterThan(4);
      expect(firstId).toBe("1");
      for (let last = 0; last <= events.length; last++) {
        const stream = subscribe(client, firstTask(events).id, last);
        expect(await stream.rest()).toStrictEqual(events.slice(last));
        expect(stream.firstId()).toBe(String(last + 1));
      }
    },
  );

  verifies("A-36", "goes on with what happens after the events that were missed", async ({ client }) => {
    const { events } = await transcriptOf(client, "piece a");
    const id = firstTask(events).id;
    const stream = subscribe(client, id, 1);
    for (const event of events.slice(1)) {
      expect(await stream.next()).toStrictEqual(event);
    }
    await sendTask(client, "task b", { taskId: id });
    expect(casesOf(await stream.rest())).toStrictEqual(["statusUpdate", "artifactUpdate", "statusUpdate"]);
  });

  verifies("A-36", "waits at the newest event of a task that goes on", async ({ client }) => {
    const { events } = await transcriptOf(client, "piece a");
    const id = firstTask(events).id;
    const stream = subscribe(client, id, events.length);
    const rest = stream.rest();
    await sendTask(client, "task b", { taskId: id });
    expect(statesOf(await rest)).toStrictEqual([TaskState.WORKING, TaskState.COMPLETED]);
    expect(stream.firstId()).toBe(String(events.length + 1));
  });

  verifies(
    "A-36 A-34",
    "gives the task as it is the id of the last event that is in it",
    async ({ client }) => {
      const { events } = await transcriptOf(client, "piece a");
      const id = firstTask(events).id;
      const stream = subscribe(client, id);
      const snapshot = taskOf(await stream.next());
      expect([snapshot.artifacts.length, stream.firstId()]).toStrictEqual([1, String(events.length)]);
      const resumed = subscribe(client, id, events.length);
      await sendTask(client, "task b", { taskId: id });
      const rest = await stream.rest();
      expect(rest).toHaveLength(3);
      expect(await resumed.rest()).toStrictEqual(rest);
    },
  );

  verifies("A-36", "numbers the stream of a follow-up where its task has got to", async ({ client }) => {
    const { events } = await transcriptOf(client, "ask Why?");
    const id = firstTask(events).id;
    const followUp = await transcriptOf(client, "because", { taskId: id });
    const [first, ...rest] = followUp.events;
    const firstId = Number(followUp.firstId);
    // The answer made one event: WORKING.
    expect([first?.payload.case, firstId]).toStrictEqual(["task", events.length + 1]);
    expect(await subscribe(client, id, firstId).rest()).toStrictEqual(rest);
  });

  for (const wrong of [
    ..."|-1|+1|1.5|1e2|0x1|007|three|1, 2".split("|"),
    "9007199254740993",
    "99999999999999999999",
  ]) {
    verifies("A-36", `refuses "${wrong}" for an event id`, async ({ client }) => {
      const { id } = await sendTask(client, "task done");
      await expectFields(
        client.subscribeToTask({ id }, { headers: { "last-event-id": wrong } }),
        "Last-Event-ID",
      );
    });
  }

  verifies("A-36", "refuses an event that is yet to come", async ({ client }) => {
    const { events } = await transcriptOf(client, "task done");
    const asking = await transcriptOf(client, "question Which one?");
    for (const [id, ahead] of [
      [firstTask(events).id, events.length + 1],
      [firstTask(asking.events).id, asking.events.length + 1],
      [firstTask(asking.events).id, Number.MAX_SAFE_INTEGER],
    ] as const) {
      const headers = { "last-event-id": String(ahead) };
      await expectFields(client.subscribeToTask({ id }, { headers }), "Last-Event-ID");
    }
  });

  verifies(
    "A-36 A-35",
    "needs an event id for a task that has ended, and a task for it",
    async ({ client }) => {
      const { id } = await sendTask(client, "task done");
      await expectReason(client.subscribeToTask({ id }), "UNSUPPORTED_OPERATION");
      const headers = { "last-event-id": "0" };
      await expectReason(client.subscribeToTask({ id: newId() }, { headers }), "TASK_NOT_FOUND");
    },
  );

  verifies.where({ server: "identity" })(
    "A-36",
    "does not replay another caller's task",
    async ({ target, wire }) => {
      const owner = target.client(wire, { headers: { "x-test-caller": "alice" } });
      const { id } = await sendTask(owner, "task done");
      const other = target.client(wire, { headers: { "x-test-caller": "bob" } });
      await expectReason(
        other.subscribeToTask({ id }, { headers: { "last-event-id": "0" } }),
        "TASK_NOT_FOUND",
      );
    },
  );

  verifies("A-36", "refuses an event id with a new message, and starts no task", async ({ client }) => {
    const contextId = newId();
    for (const [value, words] of [
      ["0", "there is none"],
      ["x", "must be the id of an event"],
    ] as const) {
      const headers = { "last-event-id": value };
      const error = await failureOf(
        client.sendStreamingMessage(toRequest("task no", { contextId }), { headers }),
      );
      expect([showCode(error.code), findA2AError(error)?.reason]).toStrictEqual([
        showCode(Code.InvalidArgument),
        "INVALID_PARAMS",
      ]);
      expect(findFieldViolations(error)).toStrictEqual([
        expect.objectContaining({ field: "Last-Event-ID", description: expect.stringContaining(words) }),
      ]);
    }
    expect((await client.listTasks({ contextId })).tasks).toStrictEqual([]);
  });

  verifies("A-36", "has no event id for a direct message", async ({ client }) => {
    const { events, firstId } = await transcriptOf(client, "echo hello");
    expect(events.map((event) => messageOf(event).parts.length)).toStrictEqual([1]);
    expect(firstId).toBeNull();
  });

  verifies.where({ places: jsonWires })(
    "A-36",
    "writes the id of every event, and none for a direct message",
    async (stage) => {
      const sent = await capture(stage, (client) =>
        readAll(client.sendStreamingMessage(toRequest("stream 3"))),
      );
      const ids = eventIds(sent.text);
      expect(ids).toStrictEqual(ids.map((_, index) => String(index + 1)));
      expect(ids).toHaveLength(readSse(sent.text).length);

      const message = await capture(stage, (client) =>
        readAll(client.sendStreamingMessage(toRequest("echo hello"))),
      );
      expect(eventIds(message.text)).toStrictEqual([undefined]);
      expect(message.header.get("x-a2a-event-id")).toBeNull();
    },
  );
});
