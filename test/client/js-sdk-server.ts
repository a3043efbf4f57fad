import { once } from "node:events";
import type { AddressInfo } from "node:net";
import type { AgentCard } from "@a2a-js/sdk";
import {
  DefaultExecutionEventBusManager,
  DefaultPushNotificationSender,
  DefaultRequestHandler,
  InMemoryPushNotificationStore,
  InMemoryTaskStore,
} from "@a2a-js/sdk/server";
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from "@a2a-js/sdk/server/express";
import { A2AService, grpcService } from "@a2a-js/sdk/server/grpc";
import { Server, ServerCredentials } from "@grpc/grpc-js";
import express from "express";
import { cardTexts, extendedDescription } from "./contract-work.ts";
import { createJsSdkAgent } from "./js-sdk-agent.ts";

/** An agent of `@a2a-js/sdk` over its three wires. */
export interface JsSdkServer extends AsyncDisposable {
  /** Base URL, without a trailing slash; the card is where it belongs. */
  readonly url: string;
}

/**
 * Starts the contract's agent as the documentation of the SDK sets one up: one request handler over the in-memory stores,
 * Express for JSON-RPC and HTTP+JSON, grpc-js on a port of its own.
 */
export async function startJsSdkServer(): Promise<JsSdkServer> {
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
    createJsSdkAgent(),
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
  const offer = (protocolBinding: string, address: string) => ({
    url: address,
    protocolBinding,
    tenant: "",
    protocolVersion: "1.0",
  });
  return {
    name: cardTexts.name,
    description: cardTexts.description,
    version: cardTexts.version,
    supportedInterfaces: [
      offer("JSONRPC", `${url}/jsonrpc`),
      offer("HTTP+JSON", `${url}/rest`),
      offer("GRPC", grpcAddress),
    ],
    provider: undefined,
    documentationUrl: "",
    capabilities: { streaming: true, pushNotifications: true, extensions: [], extendedAgentCard: true },
    securitySchemes: {},
    securityRequirements: [],
    defaultInputModes: [...cardTexts.inputModes],
    defaultOutputModes: [...cardTexts.outputModes],
    skills: cardTexts.skills.map((skill) => ({
      ...skill,
      inputModes: [...skill.inputModes],
      outputModes: [],
      tags: ["contract"],
      examples: [],
      securityRequirements: [],
    })),
    signatures: [],
  };
}
