import { randomUUID } from "node:crypto";
import { Role, type SendMessageRequest } from "@a2a-js/sdk";
import { ClientFactory, JsonRpcTransportFactory, RestTransportFactory } from "@a2a-js/sdk/client";
import { GrpcTransportFactory } from "@a2a-js/sdk/client/grpc";
import { type BenchClient, type ClientWire, requireWholeTask } from "./bench-client.ts";

/** The client of @a2a-js/sdk, as its documentation sets it up. It has no call that gives a result: its events are counted. */
export async function openSdkClient(url: string, wire: ClientWire): Promise<BenchClient> {
  const factory = new ClientFactory({
    transports: [new JsonRpcTransportFactory(), new RestTransportFactory(), new GrpcTransportFactory()],
    preferredTransports: [wire],
  });
  const client = await factory.createFromUrl(url);
  const countEvents = async (command: string) => {
    let events = 0;
    for await (const _ of client.sendMessageStream(requestOf(command))) {
      events += 1;
    }
    return events;
  };
  return { finish: async (command) => requireWholeTask(await countEvents(command)), countEvents };
}

function requestOf(command: string): SendMessageRequest {
  return {
    tenant: "",
    message: {
      messageId: randomUUID(),
      contextId: "",
      taskId: "",
      role: Role.ROLE_USER,
      parts: [
        { content: { $case: "text", value: command }, metadata: undefined, filename: "", mediaType: "" },
      ],
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
    },
    configuration: undefined,
    metadata: undefined,
  };
}
