import type { AddressInfo } from "node:net";
import type { AgentCard, AgentInterface } from "@a2a-js/sdk";
import { DefaultRequestHandler, InMemoryTaskStore } from "@a2a-js/sdk/server";
import { jsonRpcHandler, restHandler, UserBuilder } from "@a2a-js/sdk/server/express";
import { A2AService, grpcService } from "@a2a-js/sdk/server/grpc";
import { Server, ServerCredentials } from "@grpc/grpc-js";
import express from "express";
import { peerAgent } from "../agents/peer-agent.ts";
import { answerControl } from "./control.ts";

/**
 * The peer as the documentation of its multi-transport sample sets it up: one request handler over the in-memory store,
 * Express for JSON-RPC and HTTP+JSON, grpc-js on a port of its own.
 */
const card: AgentCard = {
  name: "Bench",
  description: "Does what it is told.",
  supportedInterfaces: ["JSONRPC", "HTTP+JSON", "GRPC"].map(describeInterface),
  provider: undefined,
  version: "0.0.0",
  documentationUrl: "",
  capabilities: { streaming: true, pushNotifications: false, extensions: [], extendedAgentCard: false },
  securitySchemes: {},
  securityRequirements: [],
  defaultInputModes: ["text/plain"],
  defaultOutputModes: ["text/plain"],
  skills: [],
  signatures: [],
};
const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), peerAgent);
const userBuilder = UserBuilder.noAuthentication;

const app = express();
app.use("/a2a/jsonrpc", jsonRpcHandler({ requestHandler, userBuilder }));
app.use("/a2a/rest", restHandler({ requestHandler, userBuilder }));
const httpPort = await new Promise<number>((resolve, reject) => {
  const http = app.listen(0, "127.0.0.1", (error) =>
    error === undefined ? resolve((http.address() as AddressInfo).port) : reject(error),
  );
});

const grpc = new Server();
grpc.addService(A2AService, grpcService({ requestHandler, userBuilder }));
const grpcPort = await new Promise<number>((resolve, reject) => {
  grpc.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, port) =>
    error === null ? resolve(port) : reject(error),
  );
});

answerControl({ httpPort, grpcPort, jsonRpcPath: "/a2a/jsonrpc", httpJsonPath: "/a2a/rest" });

function describeInterface(protocolBinding: string): AgentInterface {
  return { url: "http://127.0.0.1", protocolBinding, tenant: "", protocolVersion: "1.0" };
}
