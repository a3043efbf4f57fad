import { formatTaskState, isSettled, isTerminal } from "@a2a-connect/core";
import { applyStep } from "@a2a-connect/core/internal";
import { type Artifact, type Task, TaskState } from "@a2a-connect/proto";
import {
  artifactTexts,
  casesOf,
  casesOfWork,
  expectReason,
  firstTask,
  messageOf,
  newId,
  openReader,
  readAll,
  sendTask,
  settle,
  statesOf,
  taskOf,
  toRequest,
} from "../calls.ts";
import { expect } from "../expect.ts";
import { endedTask, hello, helloJson, isEnded } from "../hello.ts";
import { callRaw, capture } from "../raw-calls.ts";
import { jsonWires, NotApplicable, type ScenarioGroup, scenarios } from "../scenario.ts";

const { SUBMITTED, WORKING, INPUT_REQUIRED, AUTH_REQUIRED, COMPLETED } = TaskState;

/** A.2 */
export const sendStreamingMessage: ScenarioGroup = scenarios(
  "A.2 SendStreamingMessage",
  ({ verifies, anyAgent }) => {
    const streamingAgent = anyAgent.where({ when: ["streaming"] });

    verifies.where({ server: "bare" })(
      "A-20",
      "refuses to subscribe to a task that is there when it does not declare streaming",
      async ({ client }) => {
        const { id } = await sendTask(client, "task plain");
        await expectReason(client.subscribeToTask({ id }), "UNSUPPORTED_OPERATION");
      },
    );

    anyAgent.where({ when: ["no-streaming"], server: "bare" })(
      "A-20",
      "refuses to stream the answer to a hello, and to subscribe, when it does not declare streaming",
      async (stage) => {
        await expectReason(stage.client.sendStreamingMessage(hello(stage)), "UNSUPPORTED_OPERATION");
        await expectReason(stage.client.subscribeToTask({ id: newId() }), "UNSUPPORTED_OPERATION");
      },
    );

    for (const [cited, server] of [
      ["A-20", "bare"],
      ["A-27", "full"],
    ] as const) {
      verifies.where({ server, places: jsonWires })(
        cited,
        `says what it refuses (${server}) without opening an event stream`,
        async (stage) => {
          const { header, error } = await capture(stage, (client) =>
            readAll(client.sendStreamingMessage(toRequest("task no", { taskId: "nope" }))),
          );
          expect(header.get("content-type")).toMatch(/^application\/(a2a\+)?json$/);
          expect(error).toBeDefined();
        },
      );
    }

    verifies("A-21", "has one event for a direct message", async ({ client }) => {
      const events = await readAll(client.sendStreamingMessage(toRequest("echo hello")));
      expect(events).toHaveLength(1);
      expect(events.map((event) => messageOf(event).parts[0]?.content.value)).toStrictEqual(["hello"]);
    });

    verifies(
      "A-22 A-25 B-4",
      "begins with the task, tells every step in order, and ends after the last state",
      async ({ client }) => {
        const events = await readAll(client.sendStreamingMessage(toRequest("task result")));
        expect(casesOf(events)).toStrictEqual(casesOfWork);
        expect(statesOf(events)).toStrictEqual([SUBMITTED, WORKING, COMPLETED]);
      },
    );

    streamingAgent(
      "A-21 A-22 A-25",
      "answers a hello with one message, or with a task and its updates to the end",
      async (stage) => {
        const events = await readAll(stage.client.sendStreamingMessage(hello(stage)));
        const [first, ...rest] = casesOf(events);
        if (first === "message") {
          expect(rest, "a message is the only event of its stream").toStrictEqual([]);
          return;
        }
        expect(first, "a stream begins with the task").toBe("task");
        expect(rest).not.toContain("message");
        const states = statesOf(events);
        expect(isSettled(states.at(-1) ?? 0), `the stream ended after ${states.map(formatTaskState)}`).toBe(
          true,
        );
        const ended = events.findIndex((event) => statesOf([event]).some(isTerminal));
        // The whole task may come once more, at the very end.
        const late = (ended === -1 ? [] : events.slice(ended + 1)).filter(
          (event) => event.payload.case !== "task" || !statesOf([event]).every(isTerminal),
        );
        expect(
          late.map(({ payload }) => payload.case),
          "nothing comes after the end of the task",
        ).toStrictEqual([]);
      },
    );

    for (const [words, state] of [
      ["fail broken", TaskState.FAILED],
      ["reject no", TaskState.REJECTED],
    ] as const) {
      verifies("A-22", `ends when the task is ${formatTaskState(state)}`, async ({ client }) => {
        const states = statesOf(await readAll(client.sendStreamingMessage(toRequest(words))));
        expect(states.at(-1)).toBe(state);
      });
    }

    verifies("A-24", "ends at INPUT_REQUIRED", async ({ client }) => {
      const events = await readAll(client.sendStreamingMessage(toRequest("ask Why?")));
      expect(statesOf(events).at(-1)).toBe(INPUT_REQUIRED);
    });

    verifies("A-24", "stays open at AUTH_REQUIRED until the task has ended", async ({ client }) => {
      const reader = openReader(client.sendStreamingMessage(toRequest("auth")));
      const first = await reader.next();
      const seen = statesOf([first]);
      while (seen.at(-1) !== AUTH_REQUIRED) {
        seen.push(...statesOf([await reader.next()]));
      }
      await sendTask(client, "done", { taskId: taskOf(first).id });
      expect(statesOf(await reader.rest())).toStrictEqual([WORKING, COMPLETED]);
    });

    verifies(
      "A-24 A-35",
      "keeps a subscription open at INPUT_REQUIRED until the task has ended",
      async ({ client }) => {
        const { id } = await sendTask(client, "ask Why?");
        const reader = openReader(client.subscribeToTask({ id }));
        expect(taskOf(await reader.next()).status?.state).toBe(INPUT_REQUIRED);
        await sendTask(client, "because", { taskId: id });
        expect(statesOf(await reader.rest())).toStrictEqual([WORKING, COMPLETED]);
      },
    );

    verifies(
      "A-25 A-29",
      "delivers chunks in order, the first of them beginning the artifact",
      async ({ client }) => {
        const events = await readAll(client.sendStreamingMessage(toRequest("burst 200")));
        const chunks = events.flatMap(({ payload }) =>
          payload.case === "artifactUpdate" ? [payload.value] : [],
        );
        const heads = chunks.map(
          ({ artifact }) => /^chunk \d+/.exec(String(artifact?.parts[0]?.content.value))?.[0],
        );
        expect(heads).toStrictEqual(Array.from({ length: 200 }, (_, index) => `chunk ${index + 1}`));
        expect(chunks.map(({ append }) => append)).toStrictEqual([false, ...Array(199).fill(true)]);
      },
    );

    verifies(
      "A-26 A-25",
      "gives all streams the same events, and losing one touches nothing else",
      async ({ client }) => {
        const { id } = await sendTask(client, "question What is first?");
        const lost = new AbortController();
        const [one, other, gone] = [undefined, undefined, lost.signal].map((signal) =>
          openReader(client.subscribeToTask({ id }, signal === undefined ? {} : { signal })),
        );
        if (one === undefined || other === undefined || gone === undefined) {
          throw new Error("three readers were opened");
        }
        for (const reader of [one, other, gone]) {
          expect(taskOf(await reader.next()).id).toBe(id);
        }
        await sendTask(client, "piece a", { taskId: id });
        await gone.next();
        lost.abort();
        await expect(gone.rest()).rejects.toThrow();
        await sendTask(client, "piece b", { taskId: id });
        await sendTask(client, "task c", { taskId: id });
        const [left, right] = await Promise.all([one.rest(), other.rest()]);
        expect(left).toStrictEqual(right);
        expect(left.filter(({ payload }) => payload.case === "artifactUpdate")).toHaveLength(3);
        expect(statesOf(left).at(-1)).toBe(COMPLETED);
        expect(artifactTexts(await client.getTask({ id }))).toStrictEqual(["a", "b", "c"]);
      },
    );

    verifies("A-26 J-5", "goes on with a task whose sender has left", async ({ client }) => {
      const left = new AbortController();
      const reader = openReader(client.sendStreamingMessage(toRequest("steps 2 200"), left));
      const { id } = taskOf(await reader.next());
      left.abort();
      await reader.rest().catch(() => []);
      const task = await settle(client, id);
      expect(task.status?.state).toBe(COMPLETED);
      expect(artifactTexts(task)).toStrictEqual(["step 1 of 2\n", "step 2 of 2\n"]);
    });

    streamingAgent("A-27", "refuses to stream for unknown and ended tasks", async (stage) => {
      const { client } = stage;
      const { id } = await endedTask(stage);
      await expectReason(client.sendStreamingMessage(hello(stage, { taskId: newId() })), "TASK_NOT_FOUND");
      await expectReason(client.sendStreamingMessage(hello(stage, { taskId: id })), "UNSUPPORTED_OPERATION");
    });

    anyAgent.where({ when: ["streaming"], places: ["http-json"] })(
      "A-27 K-7",
      "refuses an unknown task with its status and its error, and opens no event stream",
      async (stage) => {
        const { status, header, json } = await callRaw(stage, "sendStreamingMessage", {
          message: helloJson(stage, { taskId: newId() }),
        });
        expect([status, header.get("content-type")]).toStrictEqual([
          404,
          expect.stringMatching(/^application\/(a2a\+)?json/),
        ]);
        expect(json.error.code).toBe(404);
      },
    );

    verifies("A-28 J-7", "names the task and the context in every update", async ({ client }) => {
      for (const words of ["task result", "stream 3", "fail broken", "tck-stream"]) {
        const events = await readAll(client.sendStreamingMessage(toRequest(words)));
        const { id, contextId } = firstTask(events);
        const updates = events.slice(1);
        expect(updates.length).toBeGreaterThan(0);
        for (const { payload } of updates) {
          expect(payload.value).toMatchObject({ taskId: id, contextId });
        }
        expect(id).toMatch(/./);
        expect(contextId).toMatch(/./);
      }
    });

    streamingAgent("A-28 J-7", "names the task and the context in every update of a hello", async (stage) => {
      const [first, ...updates] = await readAll(stage.client.sendStreamingMessage(hello(stage)));
      if (first?.payload.case !== "task") throw new NotApplicable("the agent streams a message, not a task");
      const { id: taskId, contextId } = taskOf(first);
      expect([taskId, contextId]).toStrictEqual([expect.stringMatching(/./), expect.stringMatching(/./)]);
      for (const { payload } of updates.filter((update) => update.payload.case !== "task")) {
        expect(payload.value).toMatchObject({ taskId, contextId });
      }
    });

    streamingAgent("A-29 A-30", "streams just what the task then has", async (stage) => {
      const events = await readAll(stage.client.sendStreamingMessage(hello(stage)));
      if (events[0]?.payload.case !== "task")
        throw new NotApplicable("the agent streams a message, not a task");
      const folded = events.reduce<Task | undefined>(
        (task, { payload }) => applyStep(task, payload),
        undefined,
      );
      const task = await stage.client.getTask({ id: folded?.id ?? "" });
      expect(task.artifacts.map(contentOf)).toStrictEqual(folded?.artifacts.map(contentOf));
      if (isEnded(task)) expect(task.status?.state).toBe(folded?.status?.state);
    });

    verifies("A-29", "adds chunks to one artifact, and marks the last one", async ({ client }) => {
      const messageId = `tck-stream-artifact-chunked-${newId()}`;
      const events = await readAll(client.sendStreamingMessage(toRequest("go", { messageId })));
      const chunks = events.flatMap(({ payload }) =>
        payload.case === "artifactUpdate" ? [payload.value] : [],
      );
      expect(chunks.map(({ append, lastChunk }) => [append, lastChunk])).toStrictEqual([
        [false, false],
        [true, true],
      ]);
      const [first] = events;
      const task = await client.getTask({ id: first === undefined ? "" : taskOf(first).id });
      expect(task.artifacts).toHaveLength(1);
      expect(artifactTexts(task)).toStrictEqual(["chunk-1 ", "chunk-2"]);
    });

    verifies("A-29", "replaces an artifact that comes again without append", async ({ client }) => {
      const task = await sendTask(client, "replace 3 0");
      expect(artifactTexts(task)).toStrictEqual([expect.stringMatching(/^update 3/)]);
    });
  },
);

/** What of an artifact has to be the same in a stream and in its task. */
function contentOf({ artifactId, parts }: Artifact): unknown {
  return [artifactId, parts.map(({ content }) => content)];
}
