// The official client against what the other profiles of the agent declare and refuse.
import { type Message, type Task, TaskState } from "@a2a-js/sdk";
import { type Client, ServiceParameters, withA2AExtensions, withA2AVersion } from "@a2a-js/sdk/client";
import {
  ContentTypeNotSupportedError,
  ExtensionSupportRequiredError,
  PushNotificationNotSupportedError,
  UnsupportedOperationError,
} from "@a2a-js/sdk/errors";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { failureOf, rejectedWith } from "../../packages/client/test-support/outcomes.ts";
import { type AgentProcess, startAgentProcess } from "./agent-process.ts";
import { createSdkClient, type SdkTransportName } from "./sdk-client.ts";
import { sdkPart, sending } from "./sdk-requests.ts";

const transports: readonly SdkTransportName[] = ["JSONRPC", "HTTP+JSON", "GRPC"];

/** How a refusal of push notifications looks over each of them. */
const refusals: Readonly<Record<SdkTransportName, object>> = {
  JSONRPC: { transport: "jsonrpc", envelopeCode: -32003 },
  "HTTP+JSON": { transport: "rest", statusCode: 400 },
  GRPC: { transport: "grpc", status: 9 },
};

describe("the profile `bare`", () => {
  let agent: AgentProcess;
  beforeAll(async () => {
    agent = await startAgentProcess("--profile", "bare");
  });
  afterAll(async () => {
    expect(await agent.stop()).toEqual(new Set());
  });
  const version = { serviceParameters: ServiceParameters.create(withA2AVersion("1.0")) };

  describe.each(transports)("over %s", (preferred) => {
    let client: Client;
    beforeAll(async () => {
      client = await createSdkClient(agent, preferred);
    });

    it("makes the client send without a stream", async () => {
      const events = await Array.fromAsync(client.sendMessageStream(sending("task hello")));
      expect(events).toMatchObject([
        { payload: { $case: "task", value: { status: { state: TaskState.TASK_STATE_COMPLETED } } } },
      ]);
    });

    it("refuses streams (A-20)", async () => {
      const streams = [
        client.transport.sendMessageStream(sending("task hello"), version),
        client.transport.resubscribeTask({ tenant: "", id: "t" }, version),
      ];
      for (const stream of streams) {
        expect(await failureOf(Array.fromAsync(stream))).toBeInstanceOf(UnsupportedOperationError);
      }
    });

    it("has no extended card (A-60)", async () => {
      expect((await client.getAgentCard()).description).not.toMatch(/extended/);
      const call = client.transport.getExtendedAgentCard({ tenant: "" }, version);
      expect(await failureOf(call)).toBeInstanceOf(UnsupportedOperationError);
    });

    it("has no push notifications (A-50, A-15)", async () => {
      const { transport } = client;
      const ids = { tenant: "", taskId: "t", id: "c" };
      const config = { ...ids, url: "https://example.com/hook", token: "", authentication: undefined };
      const page = { tenant: "", taskId: "t", pageSize: 0, pageToken: "" };
      const configuration = { taskPushNotificationConfig: { ...config, taskId: "" } };
      // The client refuses some of them by itself, so the transport below it asks the server.
      const calls = [
        () => transport.createTaskPushNotificationConfig(config, version),
        () => transport.getTaskPushNotificationConfig(ids, version),
        () => transport.listTaskPushNotificationConfig(page, version),
        () => transport.deleteTaskPushNotificationConfig(ids, version),
        () => client.sendMessage(sending("task hello", { configuration })),
      ];
      for (const call of calls) {
        const failure = await rejectedWith(call(), PushNotificationNotSupportedError);
        expect(failure).toMatchObject(refusals[preferred]);
      }
    });

    it("takes no media types but the two that it declares (A-9)", async () => {
      const raw = { $case: "raw", value: Buffer.from([1]) } as const;
      const parts = [sdkPart(raw, { mediaType: "application/x-foo" })];
      const call = client.sendMessage(sending("", { message: { parts } }));
      expect(await failureOf(call)).toBeInstanceOf(ContentTypeNotSupportedError);
    });
  });
});

describe("the profile `required-extension`", () => {
  let agent: AgentProcess;
  beforeAll(async () => {
    agent = await startAgentProcess("--profile", "required-extension");
  });
  afterAll(async () => {
    expect(await agent.stop()).toEqual(new Set());
  });

  it.each(transports)("takes calls over %s only with the extension (G-4)", async (preferred) => {
    const client = await createSdkClient(agent, preferred);
    const send = (serviceParameters: ServiceParameters): Promise<Message | Task> =>
      client.sendMessage(sending("echo hello"), { serviceParameters });
    expect(await failureOf(send({}))).toBeInstanceOf(ExtensionSupportRequiredError);
    const listed = ServiceParameters.create(withA2AExtensions("urn:a2a:tck:required-extension"));
    expect(await send(listed)).toMatchObject({ parts: [{ content: { $case: "text", value: "hello" } }] });
  });
});
