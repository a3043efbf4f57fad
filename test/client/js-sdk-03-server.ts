import { once } from "node:events";
import type { AddressInfo } from "node:net";
import type { AgentCard } from "@a2a-js/sdk-0.3";
import {
  DefaultExecutionEventBusManager,
  DefaultPushNotificationSender,
  DefaultRequestHandler,
  InMemoryPushNotificationStore,
  InMemoryTaskStore,
} from "@a2a-js/sdk-0.3/server";
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from "@a2a-js/sdk-0.3/server/express";
import { A2AService, grpcService } from "@a2a-js/sdk-0.3/server/grpc";
import type { JsonObject } from "@bufbuild/protobuf";
import { Server, ServerCredentials } from "@grpc/grpc-js";
import express from "express";
import { cardTexts, extendedDescription } from "./contract-work.ts";
import { createJsSdk03Agent } from "./js-sdk-03-agent.ts";
import type { JsSdkServer } from "./js-sdk-server.ts";

/**
 * Starts the contract's agent as the documentation of `@a2a-js/sdk` 0.3 sets one up, over its three wires.
 *
 * @param table the data that it makes
 */
export async function startJsSdk03Server(table: JsonObject): Promise<JsSdkServer> {
  const app = express();
  const http = app.listen(0, "127.0.0.1", () => {});
  await once(http, "listening");
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`; // of a TCP server

  const grpc = new Server();
  const grpcPort = await new Promise<number>((resolve, reject) => {
    grpc.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, port) =>
      error === null ? resolve(port) : reject(error),
    );
  });

  const card = createCard(url, `127.0.0.1:${grpcPort}`);
  const configs = new InMemoryPushNotificationStore();
  const requestHandler = new DefaultRequestHandler(
    card,
    new InMemoryTaskStore(),
    createJsSdk03Agent(table),
    new DefaultExecutionEventBusManager(),
    configs,
    new DefaultPushNotificationSender(configs),
    async () => ({ ...card, description: extendedDescription }),
  );
  const userBuilder = UserBuilder.noAuthentication;
  app.use("/.well-known/agent-card.json", agentCardHandler({ agentCardProvider: requestHandler }));
  app.use("/jsonrpc", jsonRpcHandler({ requestHandler, userBuilder }));
  app.use("/rest", restHandler({ requestHandler, userBuilder }));
  grpc.addService(A2AService, grpcService({ requestHandler, userBuilder }));
  return {
    url,
    async [Symbol.asyncDispose]() {
      grpc.forceShutdown();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

function createCard(url: string, grpcAddress: string): AgentCard {
  return {
    protocolVersion: "0.3.0",
    name: cardTexts.name,
    description: cardTexts.description,
    version: cardTexts.version,
    url: `${url}/jsonrpc`,
    preferredTransport: "JSONRPC",
    additionalInterfaces: [
      { url: `${url}/jsonrpc`, transport: "JSONRPC" },
      { url: `${url}/rest`, transport: "HTTP+JSON" },
      { url: grpcAddress, transport: "GRPC" },
    ],
    capabilities: { streaming: true, pushNotifications: true },
    supportsAuthenticatedExtendedCard: true,
    defaultInputModes: [...cardTexts.inputModes],
    defaultOutputModes: [...cardTexts.outputModes],
    skills: cardTexts.skills.map((skill) => ({
      ...skill,
      inputModes: [...skill.inputModes],
      tags: ["contract"],
    })),
  };
}
