import {
  type ListTasksRequest,
  type ListTasksRequestSchema,
  type ListTasksResponse,
  type Task,
  TaskState,
} from "@a2a-connect/proto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";
import { artifactTexts, expectCode, expectFields, failureOf, listedIds, newId, sendTask } from "../calls.ts";
import { expect } from "../expect.ts";
import { settledTask } from "../hello.ts";
import { callRaw } from "../raw-calls.ts";
import { jsonWires, NotApplicable, type ScenarioGroup, type Stage, scenarios } from "../scenario.ts";
import { asCaller } from "../server-name.ts";
import type { A2AClient } from "../target.ts";

/** A.4 */
export const listTasks: ScenarioGroup = scenarios("A.4 ListTasks", ({ verifies, anyAgent }) => {
  const anyOverJson = anyAgent.where({ places: jsonWires });

  verifies.where({ server: "identity" })(
    "A-40 E-6",
    "shows every caller only their own tasks, and says nothing of others",
    async ({ target, wire }) => {
      const contextId = newId();
      const names = [newId(), newId()];
      const own: Record<string, Task> = {};
      for (const name of names) {
        const client = target.client(wire, { headers: asCaller(name) });
        own[name] = await sendTask(client, "task mine", { contextId });
      }
      for (const name of names) {
        const client = target.client(wire, { headers: asCaller(name) });
        for (const request of [{}, { contextId }]) {
          const { tasks, totalSize } = await client.listTasks(request);
          expect(tasks.map(({ id }) => id)).toStrictEqual([own[name]?.id]);
          expect(totalSize).toBe(1);
        }
        for (const other of names.filter((candidate) => candidate !== name)) {
          const foreign = await failureOf(client.getTask({ id: own[other]?.id ?? "" }));
          const unknown = await failureOf(client.getTask({ id: newId() }));
          expect(foreign.code).toBe(Code.NotFound);
          expect([foreign.code, foreign.rawMessage]).toStrictEqual([unknown.code, unknown.rawMessage]);
        }
      }
    },
  );

  verifies("A-40", "keeps the tasks of tenants apart", async ({ client }) => {
    const contextId = newId();
    const tenants = [`a-${newId()}`, `b-${newId()}`, ""];
    const ids = new Map<string, string>();
    for (const tenant of tenants) {
      ids.set(tenant, (await sendTask(client, "task mine", { tenant, contextId })).id);
    }
    for (const tenant of tenants) {
      expect(await listedIds(client, { tenant, contextId })).toStrictEqual([ids.get(tenant)]);
    }
  });

  verifies("A-41", "orders by the time of the status, newest first", async ({ client }) => {
    const contextId = newId();
    const asking = await sendTask(client, "ask Why?", { contextId });
    const second = await sendTask(client, "task two", { contextId });
    const third = await sendTask(client, "task three", { contextId });
    expect(await listedIds(client, { contextId })).toStrictEqual([third.id, second.id, asking.id]);
    await sendTask(client, "because", { taskId: asking.id });
    expect(await listedIds(client, { contextId })).toStrictEqual([asking.id, third.id, second.id]);
  });

  anyAgent(
    "A-41",
    "orders the tasks of a context by the time of their status, newest first",
    async (stage) => {
      const { contextId, ids } = await threeHellos(stage);
      const { tasks } = await stage.client.listTasks({ contextId });
      expect(tasks).toHaveLength(ids.length);
      const times = tasks.map(timestampOf);
      expect(times).toStrictEqual(times.toSorted((one, other) => other - one));
    },
  );

  anyAgent(
    "A-42 A-43",
    "gives every task of a context once, page by page, with an empty token at the end",
    async (stage) => {
      const { contextId, ids } = await threeHellos(stage);
      const pages = await readPages(stage.client, { contextId, pageSize: 2 });
      for (const { tasks, pageSize, totalSize } of pages) {
        expect(tasks.length).toBeLessThanOrEqual(2); // a page may have less than was asked for
        expect(pageSize).toBeLessThanOrEqual(2);
        expect(totalSize).toBe(3);
      }
      expect(pages.flatMap(({ tasks }) => tasks.map(({ id }) => id)).toSorted()).toStrictEqual(
        ids.toSorted(),
      );
    },
  );

  anyAgent(
    "A-41 A-42",
    "gives no task twice and leaves none out while new ones come in between two pages",
    async (stage) => {
      const { contextId, ids } = await threeHellos(stage);
      const pages = await readPages(stage.client, { contextId, pageSize: 1 }, async () => {
        await settledTask(stage, { contextId });
      });
      const seen = pages.flatMap(({ tasks }) => tasks.map(({ id }) => id));
      expect(new Set(seen).size, "a task came twice").toBe(seen.length);
      expect(seen).toStrictEqual(expect.arrayContaining(ids));
    },
  );

  verifies(
    "A-42 A-43",
    "gives everything once, page by page, with an empty token at the end",
    async ({ client }) => {
      const contextId = newId();
      const made: string[] = [];
      for (let count = 0; count < 5; count++) {
        made.unshift((await sendTask(client, "task page", { contextId })).id);
      }
      const pages = await readPages(client, { contextId, pageSize: 2 });
      expect(
        pages.map(({ pageSize, totalSize, tasks }) => [pageSize, totalSize, tasks.length]),
      ).toStrictEqual([2, 2, 1].map((length) => [2, 5, length]));
      expect(pages.flatMap(({ tasks }) => tasks.map(({ id }) => id))).toStrictEqual(made);
    },
  );

  verifies("A-43 A-44", "uses 50 for a page when nothing is said", async ({ client }) => {
    const page = await client.listTasks({ contextId: newId() });
    expect(page).toMatchObject({ tasks: [], nextPageToken: "", pageSize: 50, totalSize: 0 });
    for (const pageSize of [1, 100]) {
      expect((await client.listTasks({ contextId: newId(), pageSize })).pageSize).toBe(pageSize);
    }
  });

  anyOverJson("A-42 A-43 H-7 H-8", "has the four members of a list even when it is empty", async (stage) => {
    const { result, text: body } = await callRaw(stage, "listTasks", { contextId: newId() });
    expect(result, body).toMatchObject({ tasks: [], nextPageToken: "", totalSize: 0 });
    expect(result).toHaveProperty("pageSize");
  });

  anyAgent(
    "A-43 A-44",
    "has at most 50 tasks in a page when nothing is said, and takes 1 to 100",
    async ({ client }) => {
      const contextId = newId();
      for (const [request, most] of [
        [{}, 50],
        [{ pageSize: 1 }, 1],
        [{ pageSize: 100 }, 100],
      ] as const) {
        const { pageSize } = await client.listTasks({ contextId, ...request });
        expect(pageSize).toBeGreaterThanOrEqual(1);
        expect(pageSize).toBeLessThanOrEqual(most);
      }
    },
  );

  for (const pageSize of [0, -1, 101]) {
    anyAgent("A-44", `calls a page of ${pageSize} invalid`, ({ client }) =>
      expectCode(client.listTasks({ pageSize }), Code.InvalidArgument),
    );
  }

  anyAgent(
    "A-45",
    "finds the task of a hello by its context and its state, and not by others or later times",
    async (stage) => {
      const task = await settledTask(stage);
      const { id, contextId, status } = task;
      const other = status?.state === TaskState.REJECTED ? TaskState.FAILED : TaskState.REJECTED;
      const later = { seconds: BigInt(Math.ceil(timestampOf(task) / 1000)) + 1n };
      for (const [filter, wanted] of [
        [{}, [id]],
        [{ status: status?.state ?? TaskState.UNSPECIFIED }, [id]],
        [{ status: other }, []],
        [{ statusTimestampAfter: later }, []],
        [{ contextId: newId() }, []],
      ] as const) {
        expect([filter, await listedIds(stage.client, { contextId, ...filter })]).toStrictEqual([
          filter,
          wanted,
        ]);
      }
    },
  );

  anyAgent("A-45", "takes the moment itself as part of statusTimestampAfter", async (stage) => {
    const { id, contextId, status } = await settledTask(stage);
    expect(await listedIds(stage.client, { contextId, ...after(status?.timestamp) })).toStrictEqual([id]);
  });

  anyOverJson(
    "A-46",
    "has the member `artifacts` of the task of a hello exactly when it is asked for",
    async (stage) => {
      const { contextId } = await settledTask(stage);
      for (const [params, there] of [
        [{}, false],
        [{ includeArtifacts: false }, false],
        [{ includeArtifacts: true }, true],
      ] as const) {
        const { result, text: body } = await callRaw(stage, "listTasks", { contextId, ...params });
        expect(
          result?.tasks?.map((task) => "artifacts" in task),
          body,
        ).toStrictEqual([there]);
      }
    },
  );

  anyAgent("A-46", "leaves the artifacts of a hello out unless they are asked for", async (stage) => {
    const { contextId, artifacts } = await settledTask(stage);
    const count = async (includeArtifacts: boolean) =>
      (await stage.client.listTasks({ contextId, includeArtifacts })).tasks.map(
        (task) => task.artifacts.length,
      );
    expect(await count(false)).toStrictEqual([0]);
    expect(await count(true)).toStrictEqual([artifacts.length]);
  });

  anyAgent("A-47 C-1 C-4", "shortens the history of a hello as it is told", async (stage) => {
    const { contextId } = await settledTask(stage);
    const lengths = async (request: object) =>
      (await stage.client.listTasks({ contextId, ...request })).tasks.map(({ history }) => history.length);
    expect(await lengths({ historyLength: 0 })).toStrictEqual([0]);
    const [one] = await lengths({ historyLength: 1 });
    expect(one).toBeLessThanOrEqual(1);
  });

  anyAgent("A-47", "calls a negative length of histories invalid", ({ client }) =>
    expectCode(client.listTasks({ historyLength: -5 }), Code.InvalidArgument),
  );

  anyAgent("A-48", "calls a page token invalid that it has not given out", ({ client }) =>
    expectCode(client.listTasks({ pageToken: "garbage" }), Code.InvalidArgument),
  );

  for (const pageSize of [0, -1, 101, 150, 2_147_483_647]) {
    verifies("A-44 E-3", `refuses a page of ${pageSize}`, async ({ client }) => {
      await expectFields(client.listTasks({ pageSize }), "pageSize");
    });
  }

  verifies("A-45", "lets all filters hold together", async ({ client }) => {
    const contextId = newId();
    const asking = await sendTask(client, "ask Why?", { contextId });
    const done = await sendTask(client, "task done", { contextId });
    await sendTask(client, "ask Elsewhere?", { contextId: newId() });
    const at = (task: Task) => task.status?.timestamp;
    const later = (ms: number) => ({ seconds: BigInt(Math.ceil(ms / 1000)) + 1n });
    const cases: [MessageInitShape<typeof ListTasksRequestSchema>, string[]][] = [
      [{ contextId }, [done.id, asking.id]],
      [{ contextId, status: TaskState.UNSPECIFIED }, [done.id, asking.id]],
      [{ contextId, status: TaskState.INPUT_REQUIRED }, [asking.id]],
      [{ contextId, status: TaskState.COMPLETED }, [done.id]],
      [{ contextId, status: TaskState.FAILED }, []],
      [{ contextId, ...after(at(asking)) }, [done.id, asking.id]],
      [{ contextId, ...after(at(done)) }, [done.id]],
      [{ contextId, status: TaskState.INPUT_REQUIRED, ...after(at(done)) }, []],
      [{ contextId, statusTimestampAfter: later(timestampOf(done)) }, []],
      [{ contextId: newId() }, []],
      [{ contextId: contextId.toUpperCase() }, []],
    ];
    for (const [request, ids] of cases) {
      expect(await listedIds(client, request)).toStrictEqual(ids);
    }
  });

  verifies("A-46", "leaves out artifacts unless they are asked for", async ({ client }) => {
    const contextId = newId();
    await sendTask(client, "task result", { contextId });
    const texts = async (request: Partial<Pick<ListTasksRequest, "includeArtifacts">>) =>
      (await client.listTasks({ contextId, ...request })).tasks.map(artifactTexts);
    expect(await texts({})).toStrictEqual([[]]);
    expect(await texts({ includeArtifacts: false })).toStrictEqual([[]]);
    expect(await texts({ includeArtifacts: true })).toStrictEqual([["result"]]);
  });

  verifies.where({ places: jsonWires })(
    "A-46",
    "has the member `artifacts` exactly when they are asked for, even when there are none",
    async (stage) => {
      const contextId = newId();
      await sendTask(stage.client, "ask Why?", { contextId });
      const membersOf = async (params: object) =>
        (await callRaw(stage, "listTasks", { contextId, ...params })).result.tasks.flatMap((task) =>
          Object.keys(task),
        );
      for (const params of [{}, { includeArtifacts: false }]) {
        const members = await membersOf(params);
        expect(members).toContain("id");
        expect(members).not.toContain("artifacts");
      }
      const { result } = await callRaw(stage, "listTasks", { contextId, includeArtifacts: true });
      expect(result.tasks.map(({ artifacts }) => artifacts)).toStrictEqual([[]]);
    },
  );

  verifies("A-47 C-1 C-4", "shortens histories to their newest messages", async ({ client }) => {
    const contextId = newId();
    const { id } = await sendTask(client, "ask Why?", { contextId });
    await sendTask(client, "because", { taskId: id });
    const texts = async (request: object) =>
      (await client.listTasks({ contextId, ...request })).tasks.flatMap(({ history }) =>
        history.map(({ parts }) => parts[0]?.content.value),
      );
    expect(await texts({})).toStrictEqual(["ask Why?", "Why?", "because"]);
    expect(await texts({ historyLength: 0 })).toStrictEqual([]);
    expect(await texts({ historyLength: 2 })).toStrictEqual(["Why?", "because"]);
    await expectFields(client.listTasks({ historyLength: -5 }), "historyLength");
  });

  verifies("A-48", "refuses a page token that was not made for this list", async ({ client }) => {
    const contextId = newId();
    for (let count = 0; count < 2; count++) {
      await sendTask(client, "task page", { contextId });
    }
    const { nextPageToken: pageToken } = await client.listTasks({ contextId, pageSize: 1 });
    expect(pageToken).not.toBe("");
    expect((await client.listTasks({ contextId, pageSize: 5, pageToken })).tasks).toHaveLength(1);
    for (const request of [
      { contextId, pageToken: "garbage" },
      { contextId, pageToken: `${pageToken}x` },
      { contextId: newId(), pageToken },
      { contextId, status: TaskState.COMPLETED, pageToken },
      { contextId, tenant: "another", pageToken },
    ]) {
      await expectFields(client.listTasks(request), "pageToken");
    }
  });
});

/** Three tasks in a context of their own. @throws NotApplicable when the agent makes none, or keeps no context */
async function threeHellos(stage: Stage): Promise<{ readonly contextId: string; readonly ids: string[] }> {
  const { id, contextId } = await settledTask(stage);
  const ids = [id];
  while (ids.length < 3) {
    const next = await settledTask(stage, { contextId });
    if (next.contextId !== contextId)
      throw new NotApplicable("the agent puts each task into a context of its own");
    ids.push(next.id);
  }
  return { contextId, ids };
}

/** More pages than a list of a few tasks can have. */
const manyPages = 20;

/** Reads a list page by page. `between` runs after the first page. */
async function readPages(
  client: A2AClient,
  request: MessageInitShape<typeof ListTasksRequestSchema>,
  between: () => Promise<void> = async () => {},
): Promise<ListTasksResponse[]> {
  const pages: ListTasksResponse[] = [];
  let pageToken = "";
  do {
    const page = await client.listTasks({ ...request, pageToken });
    pages.push(page);
    pageToken = page.nextPageToken;
    if (pages.length === 1) await between();
    if (pages.length === manyPages) {
      throw new Error(`the pages do not end: there is a token for another after ${manyPages} of them`);
    }
  } while (pageToken !== "");
  return pages;
}

function after(
  bound: NonNullable<Task["status"]>["timestamp"],
): Pick<Parameters<A2AClient["listTasks"]>[0], "statusTimestampAfter"> {
  return bound === undefined ? {} : { statusTimestampAfter: bound };
}

function timestampOf({ status }: Task): number {
  if (status?.timestamp === undefined) {
    throw new Error("a status has a time");
  }
  return timestampMs(status.timestamp);
}
