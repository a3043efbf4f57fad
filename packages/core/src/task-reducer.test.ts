import {
  type Artifact,
  ArtifactSchema,
  Role,
  type Task,
  TaskArtifactUpdateEventSchema,
  TaskSchema,
  TaskState,
  TaskStatusUpdateEventSchema,
} from "@a2a-connect/proto";
import { create, type JsonObject, type MessageInitShape } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { agentMessage, partText, text, userMessage } from "./parts.ts";
import { applyStep, copyTask, findArtifact, shareTask, type TaskStep } from "./task-reducer.ts";
import { isTerminal } from "./task-state.ts";

const name = { taskId: "t", contextId: "c" };

function created(state: TaskState = TaskState.SUBMITTED): TaskStep {
  const history = [userMessage("first", { messageId: "1" })];
  return { case: "task", value: create(TaskSchema, { id: "t", contextId: "c", status: { state }, history }) };
}

function status(state: TaskState, words?: string): TaskStep {
  const message = words === undefined ? {} : { message: agentMessage(words, { messageId: words }) };
  return {
    case: "statusUpdate",
    value: create(TaskStatusUpdateEventSchema, { ...name, status: { state, ...message } }),
  };
}

function chunk(artifact: MessageInitShape<typeof ArtifactSchema>, append = false): TaskStep {
  return {
    case: "artifactUpdate",
    value: create(TaskArtifactUpdateEventSchema, { ...name, artifact, append }),
  };
}

function input(words: string): TaskStep {
  return { case: "input", value: userMessage(words, { messageId: words }) };
}

function fold(...steps: readonly TaskStep[]): Task {
  let task: Task | undefined;
  for (const step of steps) task = applyStep(task, step);
  if (task === undefined) throw new Error("nothing to fold");
  return task;
}

const wordsOf = (task: Task) => task.history.map(partText);
const contentOf = (artifact: Artifact | undefined) => artifact?.parts.map(({ content }) => content.value);

describe("the fold of a task", () => {
  it("begins with a copy of the task, which the log's own does not follow", () => {
    const first = created();
    const task = fold(first, chunk({ artifactId: "a", parts: [text("1")] }), input("second"));
    expect([task.artifacts.length, task.history.length]).toEqual([1, 2]);
    expect(first.value).toMatchObject({ artifacts: [], history: [{ messageId: "1" }] });
  });

  it("puts a question into history when it is answered, before the answer (C-2, C-5)", () => {
    const asked = [created(), status(TaskState.INPUT_REQUIRED, "Which?")];
    const task = fold(...asked, input("this"), status(TaskState.WORKING));
    expect(wordsOf(task)).toEqual(["first", "Which?", "this"]);
    expect(task.history.map(({ role }) => role)).toEqual([Role.USER, Role.AGENT, Role.USER]);
    expect(task.status?.message).toBeUndefined();
    expect(wordsOf(fold(...asked))).toEqual(["first"]);
  });

  it("puts a question into history once, also when nobody answers (C-5)", () => {
    const task = fold(
      created(),
      status(TaskState.AUTH_REQUIRED, "Log in"),
      status(TaskState.CANCELED, "Too late"),
    );
    expect(wordsOf(task)).toEqual(["first", "Log in"]);
    expect(task.status?.message && partText(task.status.message)).toBe("Too late");
  });

  it("forgets progress (C-5)", () => {
    const task = fold(
      created(),
      status(TaskState.WORKING, "half"),
      status(TaskState.WORKING, "more"),
      status(TaskState.COMPLETED),
    );
    expect(wordsOf(task)).toEqual(["first"]);
  });

  it("does not change a status that readers hold", () => {
    const asked = status(TaskState.INPUT_REQUIRED, "Which?");
    fold(created(), asked, input("this"));
    expect(asked.value).toMatchObject({ status: { message: { messageId: "Which?" } } });
  });

  describe("artifacts (A-29)", () => {
    it("are created by what appends to none", () => {
      const task = fold(created(), chunk({ artifactId: "a", parts: [text("1")] }, true));
      expect(task.artifacts.map(contentOf)).toEqual([["1"]]);
    });

    it("grow by what appends, and keep the name they were given first", () => {
      const task = fold(
        created(),
        chunk({ artifactId: "a", name: "A", parts: [text("1")], metadata: { x: 1, y: 1 } }),
        chunk(
          { artifactId: "a", name: "B", description: "late", parts: [text("2")], metadata: { y: 2 } },
          true,
        ),
      );
      expect(task.artifacts).toMatchObject([{ name: "A", description: "late", metadata: { x: 1, y: 2 } }]);
      expect(task.artifacts.map(contentOf)).toEqual([["1", "2"]]);
    });

    it("get a name that comes late", () => {
      const later = chunk({ artifactId: "a", name: "late", parts: [text("2")] }, true);
      const task = fold(created(), chunk({ artifactId: "a", parts: [text("1")] }), later);
      expect(task.artifacts).toMatchObject([{ name: "late" }]);
    });

    it("are replaced in their place by what does not append", () => {
      const task = fold(
        created(),
        chunk({ artifactId: "a", name: "A", parts: [text("1")], metadata: { x: 1 } }),
        chunk({ artifactId: "b", parts: [text("b")] }),
        chunk({ artifactId: "a", parts: [text("2")] }),
        chunk({ artifactId: "a", parts: [text("3")] }, true),
      );
      expect(task.artifacts.map(({ artifactId }) => artifactId)).toEqual(["a", "b"]);
      expect(contentOf(findArtifact(task, "a"))).toEqual(["2", "3"]);
      expect(findArtifact(task, "a")).toMatchObject({ name: "" });
      expect(findArtifact(task, "a")?.metadata).toBeUndefined();
    });

    it("leave the parts of the events alone", () => {
      const first = chunk({ artifactId: "a", parts: [text("1")] });
      fold(created(), first, chunk({ artifactId: "a", parts: [text("2")] }, true));
      expect(first.value).toMatchObject({ artifact: { parts: [{ content: { value: "1" } }] } });
      expect(first.case === "artifactUpdate" && first.value.artifact?.parts).toHaveLength(1);
    });

    it("leave the metadata of the events alone", () => {
      const first = chunk({ artifactId: "a", metadata: { x: 1 } });
      fold(created(), first, chunk({ artifactId: "a", metadata: { y: 2 } }, true));
      expect(first.value).toMatchObject({ artifact: { metadata: { x: 1 } } });
      expect(first.case === "artifactUpdate" && Object.keys(first.value.artifact?.metadata ?? {})).toEqual([
        "x",
      ]);
    });

    it("take a key `__proto__` for one like any other", () => {
      const metadata = JSON.parse('{"__proto__":{"x":1}}');
      const task = fold(
        created(),
        chunk({ artifactId: "a", metadata: { y: 2 } }),
        chunk({ artifactId: "a", metadata }, true),
      );
      const merged = findArtifact(task, "a")?.metadata ?? {};
      expect(Object.keys(merged)).toEqual(["y", "__proto__"]);
      expect("x" in merged).toBe(false);
    });

    it("have metadata with the prototype that it has in a whole task", () => {
      const chunks = ["a", "b", "b"].map((artifactId, at) =>
        chunk({ artifactId, ...(at === 1 ? {} : { metadata: { [`k${at}`]: {} } }) }, true),
      );
      const { artifacts } = fold(created(), ...chunks);
      expect(artifacts.map(({ metadata }) => metadata)).toStrictEqual([{ k0: {} }, { k2: {} }]);
    });

    it("are extended at the cost of the chunk, however much metadata there is", () => {
      const extend = (count: number): number => {
        const task = fold(created(), chunk({ artifactId: "a" }));
        const chunks = Array.from({ length: count }, (_, at) =>
          chunk({ artifactId: "a", metadata: { [`k${at}`]: at } }, true),
        );
        const began = performance.now();
        for (const each of chunks) applyStep(task, each);
        expect(Object.keys(findArtifact(task, "a")?.metadata ?? {})).toHaveLength(count);
        return performance.now() - began;
      };
      extend(1_000); // compiled
      expect(extend(20_000)).toBeLessThan(2_000); // the square of it takes a minute
    });

    it("are found by id among thousands, also those that came later", () => {
      const task = fold(
        created(),
        ...Array.from({ length: 2_000 }, (_, at) => chunk({ artifactId: `${at}` })),
      );
      expect(findArtifact(task, "1999")).toBe(task.artifacts[1_999]);
      applyStep(task, chunk({ artifactId: "new" }));
      expect(findArtifact(task, "new")).toBe(task.artifacts[2_000]);
      expect(findArtifact(task, "none")).toBeUndefined();
    });

    it("are found by id in constant time where a task repeats an id, whose last one counts", () => {
      const readsFor = (count: number): number => {
        let reads = 0;
        const repeats = Array.from({ length: count }, (_, at) =>
          create(ArtifactSchema, { artifactId: "a", name: `${at}` }),
        );
        const artifacts = new Proxy(repeats, {
          get(target, name, receiver) {
            reads += 1;
            return Reflect.get(target, name, receiver);
          },
        });
        const task = { ...create(TaskSchema), artifacts };
        for (let at = 0; at < count; at += 1) applyStep(task, chunk({ artifactId: `b${at % 2}` }, true));
        expect(findArtifact(task, "a")?.name).toBe(`${count - 1}`);
        expect(task.artifacts).toHaveLength(count + 2);
        return reads;
      };
      expect(readsFor(200)).toBeLessThanOrEqual(2 * readsFor(100));
    });
  });

  for (const [what, task, step] of [
    ["a log that does not begin with a task", undefined, status(TaskState.WORKING)],
    ["a way back to SUBMITTED (B-3)", created(TaskState.WORKING), status(TaskState.SUBMITTED)],
    ["UNSPECIFIED (B-4)", created(), status(TaskState.UNSPECIFIED)],
    ["a way out of a terminal state (B-2)", created(TaskState.COMPLETED), status(TaskState.WORKING)],
    [
      "an update without a status",
      created(),
      { case: "statusUpdate", value: create(TaskStatusUpdateEventSchema, name) },
    ],
    [
      "an update without an artifact",
      created(),
      { case: "artifactUpdate", value: create(TaskArtifactUpdateEventSchema, name) },
    ],
    ["a direct message", created(), { case: "message", value: userMessage("x", { messageId: "x" }) }],
    ["an empty payload", created(), { case: undefined }],
  ] as const) {
    it(`refuses ${what}, and nothing has changed`, () => {
      const before = task === undefined ? undefined : fold(task);
      const copy = before && copyTask(before);
      expect(() => applyStep(before, step)).toThrow(Error);
      expect(before).toEqual(copy);
    });
  }

  it("never leaves a terminal state, whatever is folded in (B-3)", () => {
    const states = fc.array(fc.integer({ min: 0, max: 10 }), { maxLength: 30 });
    fc.assert(
      fc.property(states, (numbers) => {
        const task = fold(created());
        let end: TaskState | undefined;
        for (const state of numbers as TaskState[]) {
          try {
            applyStep(task, status(state));
          } catch {
            // refused
          }
          const now = task.status?.state ?? TaskState.UNSPECIFIED;
          if (end !== undefined) expect(now).toBe(end);
          if (isTerminal(now)) end = now;
          expect(now).not.toBe(TaskState.UNSPECIFIED);
        }
      }),
      { seed: 3 },
    );
  });
});

for (const copyOf of [copyTask, shareTask]) {
  describe(copyOf.name, () => {
    it("gives a task whose lists stay as they are when the original goes on", () => {
      const begun = () =>
        fold(
          created(),
          chunk({ artifactId: "a", parts: [text("1")], metadata: { x: 1 } }),
          chunk({ artifactId: "b", parts: [text("1")] }),
        );
      const task = begun();
      for (const round of [1, 2]) {
        const copy = copyOf(task);
        const before = structuredClone(copy);
        applyStep(task, chunk({ artifactId: "a", parts: [text("2")], metadata: { x: 2, y: round } }, true));
        applyStep(task, chunk({ artifactId: "a", parts: [text("3")] }, true));
        applyStep(task, chunk({ artifactId: "b", parts: [text(`${round}`)] }));
        applyStep(task, chunk({ artifactId: `c${round}`, parts: [text("3")] }));
        applyStep(task, chunk({ artifactId: `c${round}`, parts: [text("4")] }, true));
        applyStep(task, input("second"));
        applyStep(task, status(TaskState.WORKING));
        expect(copy).toEqual(before);
      }
      expect(task.artifacts.map(({ parts }) => parts.length)).toEqual([5, 1, 2, 2]);
    });

    it("reads no metadata of artifacts, before one changes it", () => {
      let looks = 0;
      const metadata = new Proxy<JsonObject>(
        { x: 1 },
        {
          ownKeys(target) {
            looks += 1;
            return Reflect.ownKeys(target);
          },
        },
      );
      const task = fold(created());
      task.artifacts.push({ ...create(ArtifactSchema, { artifactId: "a" }), metadata });
      const copy = copyOf(task);
      for (const each of [task, copy]) {
        applyStep(each, chunk({ artifactId: "a", parts: [text("2")] }, true));
        expect(looks).toBe(0);
      }
      applyStep(copy, chunk({ artifactId: "a", metadata: { y: 2 } }, true));
      expect(looks).toBe(1);
      expect([task, copy].map(({ artifacts }) => artifacts[0]?.metadata)).toEqual([{ x: 1 }, { x: 1, y: 2 }]);
    });
  });
}

describe("shareTask", () => {
  it("copies only the artifacts that change, and each once for all the chunks that follow", () => {
    const task = fold(
      created(),
      chunk({ artifactId: "a", parts: [text("1")] }),
      chunk({ artifactId: "b", parts: [text("1")] }),
    );
    const copy = shareTask(task);
    applyStep(task, chunk({ artifactId: "a", parts: [text("2")] }, true));
    const changed = task.artifacts[0];
    applyStep(task, chunk({ artifactId: "a", parts: [text("3")] }, true));
    expect(task.artifacts[0]).toBe(changed);
    expect(changed).not.toBe(copy.artifacts[0]);
    expect(task.artifacts[1]).toBe(copy.artifacts[1]);
  });
});
