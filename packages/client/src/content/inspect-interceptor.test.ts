import { text } from "@a2a-connect/core";
import { A2AService, type Message, MessageSchema } from "@a2a-connect/proto";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient, createRouterTransport } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { rejectedWith } from "../../test-support/outcomes.ts";
import { UntrustedOutputError } from "../errors.ts";
import type { Inspect, Inspected } from "../options.ts";
import { inspectResponses } from "./inspect-interceptor.ts";

describe("inspectResponses", () => {
  for (const [what, call, want] of [
    ["a task", (client: Client) => client.getTask({ id: "t1" }), everythingOfATask],
    ["a canceled task", (client: Client) => client.cancelTask({ id: "t1" }), everythingOfATask],
    [
      "an answer that is a task",
      (client: Client) => client.sendMessage({ tenant: "task" }),
      everythingOfATask,
    ],
    ["an answer that is a message", (client: Client) => client.sendMessage({}), ["part direct"]],
    ["a list", (client: Client) => client.listTasks({}), [...everythingOfATask, ...everythingOfATask]],
    ["an extended card", (client: Client) => client.getExtendedAgentCard({}), ["card Echo"]],
  ] as const) {
    it(`shows what is in ${what}`, async () => {
      const seen: string[] = [];
      await call(connect((inspected) => void seen.push(describeInspected(inspected))));
      expect(seen).toEqual(want);
    });
  }

  it("shows what is in a stream before each of its messages", async () => {
    const log: string[] = [];
    const client = connect(async (inspected) => {
      await Promise.resolve();
      log.push(describeInspected(inspected));
    });
    for await (const { payload } of client.subscribeToTask({ id: "t1" })) log.push(`got ${payload.case}`);
    expect(log).toEqual([
      ...everythingOfATask,
      "got task",
      "part update",
      "got statusUpdate",
      "artifact a1",
      "part chunk",
      "got artifactUpdate",
      "part direct",
      "got message",
    ]);
  });

  it("ends a call with what refuses it", async () => {
    const error = await rejectedWith(connect(refuse("part of artifact")).getTask({ id: "t1" }), ConnectError);
    expect(error).toMatchObject({
      code: Code.FailedPrecondition,
      rawMessage: "the agent's part was refused: not that",
    });
    expect(error.cause).toBeInstanceOf(UntrustedOutputError);
    expect(error.cause).toMatchObject({ cause: { message: "not that" } });
  });

  it("keeps an UntrustedOutputError as it is", async () => {
    const refusal = new UntrustedOutputError("no schema fits", { issues: [{ message: "a" }] });
    const client = connect(() => {
      throw refusal;
    });
    expect((await rejectedWith(client.getTask({ id: "t1" }), ConnectError)).cause).toBe(refusal);
  });

  it("hands over what came before in a stream, and nothing of what is refused", async () => {
    const got: unknown[] = [];
    const error = await rejectedWith(
      (async () => {
        for await (const { payload } of connect(refuse("chunk")).subscribeToTask({ id: "t1" }))
          got.push(payload.case);
      })(),
      ConnectError,
    );
    expect(error.cause).toBeInstanceOf(UntrustedOutputError);
    expect(got).toEqual(["task", "statusUpdate"]);
  });
});

type Client = ReturnType<typeof connect>;

const everythingOfATask = ["part asking", "part said", "part replied", "artifact a1", "part content"];

const saying = (words: string): Message => create(MessageSchema, { parts: [text(words)] });

const task = {
  id: "t1",
  status: { message: saying("asking") },
  history: [saying("said"), saying("replied")],
  artifacts: [{ artifactId: "a1", parts: [text("content")] }],
} satisfies MessageInitShape<typeof A2AService.method.getTask.output>;

function connect(inspect: Inspect) {
  const transport = createRouterTransport(
    ({ service }) =>
      service(A2AService, {
        getTask: () => task,
        cancelTask: () => task,
        listTasks: () => ({ tasks: [task, task] }),
        getExtendedAgentCard: () => ({ name: "Echo" }),
        sendMessage: ({ tenant }) => ({
          payload:
            tenant === "task" ? { case: "task", value: task } : { case: "message", value: saying("direct") },
        }),
        async *subscribeToTask() {
          yield { payload: { case: "task", value: task } };
          yield { payload: { case: "statusUpdate", value: { status: { message: saying("update") } } } };
          const artifact = { artifactId: "a1", parts: [text("chunk")] };
          yield { payload: { case: "artifactUpdate", value: { artifact } } };
          yield { payload: { case: "message", value: saying("direct") } };
        },
      }),
    { transport: { interceptors: [inspectResponses(inspect)] } },
  );
  return createClient(A2AService, transport);
}

/** Refuses parts of artifacts, or those with certain words. */
function refuse(what: string): Inspect {
  return (inspected) => {
    if (inspected.kind !== "part") return;
    const isMeant = inspected.part.content.value === what || `part of ${inspected.of}` === what;
    if (isMeant) throw new Error("not that");
  };
}

function describeInspected(inspected: Inspected): string {
  switch (inspected.kind) {
    case "card":
      return `card ${inspected.card.name}`;
    case "artifact":
      return `artifact ${inspected.artifact.artifactId}`;
    case "part":
      return `part ${String(inspected.part.content.value)}`;
  }
}
