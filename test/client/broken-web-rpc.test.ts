// Agents that break Connect and gRPC-Web: each call ends soon in an error that has a class and a sentence.

import type { IncomingMessage, ServerResponse } from "node:http";
import {
  type AgentClient,
  AgentError,
  ContentTooLargeError,
  InvalidResponseError,
  SendUncertainError,
  UnreachableError,
} from "@a2a-connect/client";
import { connectBinding, grpcWebBinding, parseMessage } from "@a2a-connect/core/internal";
import { connectAgent } from "@a2a-connect/node/client";
import { AgentCardSchema } from "@a2a-connect/proto";
import { describe, expect, it } from "vitest";
import { frame } from "./broken-grpc-server.ts";
import { createCardJson, startBrokenServer } from "./broken-server.ts";
import { taskId } from "./broken-task.ts";
import { collect, failureOf } from "./outcomes.ts";
import { watchRejections } from "./watch-rejections.ts";

watchRejections();

interface Failure {
  readonly server: string;
  readonly answer: (response: ServerResponse, streamType: string, unaryType: string) => void;
  readonly act: (agent: AgentClient) => Promise<unknown>;
  /** Default InvalidResponseError. */
  readonly error?: abstract new (
    ...args: never[]
  ) => Error;
}

const getTask = (agent: AgentClient): Promise<unknown> => agent.getTask(taskId);
const run = (agent: AgentClient): Promise<unknown> => agent.run("Tell me.");
const follow = (agent: AgentClient): Promise<unknown> => collect(agent.follow(taskId, { after: 0 }));

const failures: readonly Failure[] = [
  {
    server: "answers with a web page",
    answer: (response) => response.writeHead(200, { "content-type": "text/html" }).end("<h1>Welcome</h1>"),
    act: getTask,
  },
  {
    server: "answers a subscription with a web page",
    answer: (response) => response.writeHead(200, { "content-type": "text/html" }).end("<h1>Welcome</h1>"),
    act: follow,
  },
  {
    server: "fails with a web page",
    answer: (response) =>
      response.writeHead(502, { "content-type": "text/html" }).end("<h1>Bad gateway</h1>"),
    act: getTask,
    error: UnreachableError,
  },
  {
    server: "answers with bytes that are no message",
    answer: (response, _, type) => {
      const bytes = Buffer.from([0xff, 0xff, 0xff, 0xff, 0x07, 0x01]);
      response.writeHead(200, { "content-type": type });
      response.end(type.includes("grpc") ? frame(bytes) : bytes);
    },
    act: getTask,
  },
  {
    server: "sends an event that announces four gigabytes",
    answer: (response, type) => {
      response.writeHead(200, { "content-type": type });
      response.write(frame(Buffer.alloc(10), 0xffff_ffff));
    },
    error: ContentTooLargeError,
    act: follow,
  },
  {
    server: "sends an event without a payload",
    answer: (response, type) => {
      response.writeHead(200, { "content-type": type, "x-a2a-event-id": "1" });
      response.write(frame(Buffer.alloc(0)));
    },
    act: run,
  },
  {
    server: "ends a stream without saying so",
    answer: (response, type) => response.writeHead(200, { "content-type": type }).end(),
    act: follow,
    error: AgentError, // Connect's answer was no stream; gRPC-Web's may have been cut off
  },
  { server: "never answers", answer: () => {}, act: getTask, error: UnreachableError },
  { server: "never answers a message", answer: () => {}, act: run, error: SendUncertainError },
  {
    server: "cuts every connection",
    answer: (response) => void response.destroy(),
    act: follow,
    error: UnreachableError,
  },
];

describe.each([
  ["Connect", connectBinding, "application/connect+proto", "application/proto"],
  ["gRPC-Web", grpcWebBinding, "application/grpc-web+proto", "application/grpc-web+proto"],
])(
  "the client says what is wrong over %s with a server that",
  (_, protocolBinding, streamType, unaryType) => {
    it.each(failures)(
      "$server",
      { timeout: 4_000 },
      async ({ answer, act, error = InvalidResponseError }) => {
        await using server = await startBrokenServer({
          serveCard: (_card, request: IncomingMessage, response) => {
            request.resume();
            answer(response, streamType, unaryType);
          },
        });
        const card = createCardJson([{ url: server.url, protocolBinding, protocolVersion: "1.0" }]);
        await using agent = await connectAgent(parseMessage(AgentCardSchema, card), {
          connectTimeoutMs: 1_000,
          requestTimeoutMs: 300,
          idleTimeoutMs: 300,
          maxResponseBytes: 256 * 1024,
          retry: { attempts: 2, initialDelayMs: 1, maxDelayMs: 5, giveUpAfterMs: 600 },
        });
        const thrown = await failureOf(act(agent));
        expect(thrown).toBeInstanceOf(error);
        expect(thrown instanceof AgentError && thrown.hint).toMatch(/\S+ \S+ \S+/);
      },
    );
  },
);
