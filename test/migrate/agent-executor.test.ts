// An executor that was written for `@a2a-js/sdk` runs on our server, unchanged, and answers their client and ours.

import { TaskFailedError } from "@a2a-connect/client";
import { createMemoryTaskStore, defineAgent, serve } from "@a2a-connect/node";
import { connectAgent } from "@a2a-connect/node/client";
import { TaskState as OurState } from "@a2a-connect/proto";
import { fromAgentExecutor } from "@a2a-connect/server/js-sdk";
import { Role, TaskState } from "@a2a-js/sdk";
import { ClientFactory, JsonRpcTransportFactory, RestTransportFactory } from "@a2a-js/sdk/client";
import { AgentEvent, type AgentExecutor } from "@a2a-js/sdk/server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { commands, product, questions } from "../client/contract-work.ts";
import { createJsSdkAgent } from "../client/js-sdk-agent.ts";

let url: string;
let close: () => Promise<void>;

beforeAll(async () => {
  const agent = defineAgent({
    card: { name: "Migrated", defaultOutputModes: ["*/*"] },
    execute: fromAgentExecutor(createJsSdkAgent()),
  });
  const served = await serve(agent, { store: createMemoryTaskStore(), shutdown: false });
  url = served.url;
  close = () => served.close({ graceMs: 0 });
});

afterAll(() => close());

function say(text: string) {
  const part = {
    content: { $case: "text" as const, value: text },
    mediaType: "",
    filename: "",
    metadata: undefined,
  };
  const ids = { messageId: crypto.randomUUID(), contextId: "", taskId: "" };
  const message = {
    ...ids,
    role: Role.ROLE_USER,
    parts: [part],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
  return { message, tenant: "", configuration: undefined, metadata: undefined };
}

describe.each(["JSONRPC", "HTTP+JSON"])("through their client, over %s", (preferred) => {
  const connect = () =>
    new ClientFactory({
      transports: [new JsonRpcTransportFactory(), new RestTransportFactory()],
      preferredTransports: [preferred],
    }).createFromUrl(url);

  it("answers with a message", async () => {
    const result = await (await connect()).sendMessage(say(`${commands.echo} hello`));
    if (!("parts" in result)) expect.unreachable("it is a message");
    expect(result.parts[0]?.content).toEqual({ $case: "text", value: "hello" });
  });

  it("streams artifacts, and completes", async () => {
    let text = "";
    let last: TaskState | undefined;
    for await (const { payload } of (await connect()).sendMessageStream(say(commands.work))) {
      if (payload?.$case === "artifactUpdate" && payload.value.artifact?.artifactId === "story") {
        const content = payload.value.artifact.parts[0]?.content;
        text += content?.$case === "text" ? content.value : "";
      }
      if (payload?.$case === "statusUpdate") last = payload.value.status?.state;
    }
    expect([text, last]).toEqual([product.chunks.join(""), TaskState.TASK_STATE_COMPLETED]);
  });
});

describe("through our client", () => {
  it("goes on with the answer to its question", async () => {
    await using client = await connectAgent(url);
    const answers = [...Object.values(questions)].map((_, index) => `answer ${index}`);
    const result = await client.run(commands.ask, { onInputRequired: () => answers.shift() ?? "done" });
    expect(result.task?.status?.state).toBe(OurState.COMPLETED);
  });

  it("cancels", async () => {
    await using client = await connectAgent(url);
    const { payload } = await client.sendMessage("wait", { returnImmediately: true });
    if (payload.case !== "task") expect.unreachable("it waits");
    expect((await client.cancelTask(payload.value.id)).status?.state).toBe(OurState.CANCELED);
  });

  it("fails when the executor throws", async () => {
    const broken: AgentExecutor = {
      async execute({ taskId, contextId, userMessage }, bus) {
        const status = { state: TaskState.TASK_STATE_SUBMITTED, message: undefined, timestamp: undefined };
        const task = {
          id: taskId,
          contextId,
          status,
          artifacts: [],
          history: [userMessage],
          metadata: undefined,
        };
        bus.publish(AgentEvent.task(task));
        throw new Error("broken");
      },
      async cancelTask() {},
    };
    const execute = fromAgentExecutor(broken);
    const served = await serve(defineAgent({ card: { name: "Broken" }, execute }), {
      store: createMemoryTaskStore(),
      shutdown: false,
      log: () => {},
    });
    await using client = await connectAgent(served.url);
    await expect(client.run("go")).rejects.toThrow(TaskFailedError);
    await served.close({ graceMs: 0 });
  });
});
