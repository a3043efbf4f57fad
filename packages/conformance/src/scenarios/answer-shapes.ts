import {
  AgentCardSchema,
  ListTasksResponseSchema,
  SendMessageResponseSchema,
  StreamResponseSchema,
  TaskSchema,
} from "@a2a-connect/proto";
import type { DescMessage } from "@bufbuild/protobuf";
import { type Defect, findDefects, isOlderMember } from "../closed-schema.ts";
import { expect } from "../expect.ts";
import { helloJson, settledTask } from "../hello.ts";
import { callRaw, type RawAnswer, readAnySse, sendRaw } from "../raw-calls.ts";
import { jsonWires, type ScenarioGroup, scenarios } from "../scenario.ts";

/** H, the answers of any server against the closed schema of the proto. */
export const answerShapes: ScenarioGroup = scenarios("H JSON of answers", ({ anyAgent }) => {
  const anyOverJson = anyAgent.where({ places: jsonWires });

  anyOverJson(
    "H-1 H-3 H-4 H-7",
    "answers a hello with JSON of the schema, and nothing else in it",
    async (stage) => expectShape(SendMessageResponseSchema, await sendRaw(stage, helloJson(stage))),
  );

  anyOverJson("H-1 H-3 H-4 H-7", "writes a task by the schema", async (stage) => {
    const { id } = await settledTask(stage);
    expectShape(TaskSchema, await callRaw(stage, "getTask", { id }));
  });

  anyOverJson("H-1 H-3 H-4 H-7", "writes a list by the schema", async (stage) => {
    const { contextId } = await settledTask(stage);
    expectShape(
      ListTasksResponseSchema,
      await callRaw(stage, "listTasks", { contextId, includeArtifacts: true }),
    );
  });

  anyOverJson.where({ when: ["streaming"] })(
    "H-1 H-3 H-4 H-7",
    "writes every event of a stream by the schema",
    async (stage) => {
      const { text } = await callRaw(stage, "sendStreamingMessage", { message: helloJson(stage) });
      const events = readAnySse(text).map((event) => (stage.wire === "jsonrpc" ? event.result : event));
      expect(events.length, text).toBeGreaterThan(0);
      for (const event of events) {
        expect(sentences(findDefects(StreamResponseSchema, event)), JSON.stringify(event)).toStrictEqual([]);
      }
    },
  );

  anyOverJson.where({ when: ["extended-card"] })(
    "H-1 H-7",
    "writes its extended card by the schema, when it shows it",
    async (stage) => {
      const answer = await callRaw(stage, "getExtendedAgentCard", {});
      if (answer.error === undefined) expectShape(AgentCardSchema, answer);
    },
  );

  anyAgent(
    "L-1 L-7",
    "writes its card by the schema; members of version 0.3 may be there, too",
    async ({ target, note }) => {
      const defects = findDefects(AgentCardSchema, target.card);
      const older = defects.filter(isOlderMember);
      if (older.length > 0) {
        note(`The card has members of version 0.3: ${older.map(({ path }) => path).join(", ")}.`);
      }
      expect(sentences(defects.filter((defect) => !older.includes(defect)))).toStrictEqual([]);
    },
  );
});

function expectShape(desc: DescMessage, { result, text }: RawAnswer): void {
  expect(sentences(findDefects(desc, result)), text).toStrictEqual([]);
}

function sentences(defects: readonly Defect[]): string[] {
  return defects.map(({ path, problem }) => `${path} ${problem}`);
}
