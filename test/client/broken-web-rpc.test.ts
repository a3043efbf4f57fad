// Agents that break Connect and gRPC-Web: each call ends soon in an error that has a class and a sentence.

import type { IncomingMessage, ServerResponse } from "node:http";
import {
  AgentError,
  ContentTooLargeError,
  InvalidResponseError,
  UnreachableError,
} from "@a2a-connect/client";
import { connectBinding, grpcWebBinding, parseMessage } from "@a2a-connect/core/internal";
import { connectAgent } from "@a2a-connect/node/client";
import { AgentCardSchema } from "@a2a-connect/proto";
import { describe, expect, it } from "vitest";
import { failureOf } from "../../packages/client/test-support/outcomes.ts";
import { createCardJson } from "../support/cards.ts";
import {
  expectTyped,
  type Failure,
  fails,
  follow,
  getTask,
  limits,
  neverAnswers,
  run,
  soonMs,
} from "./broken-failures.ts";
import { frame } from "./broken-grpc-server.ts";
import { startBrokenServer } from "./broken-server.ts";
import { watchRejections } from "./watch-rejections.ts";

watchRejections();

type Answer = (response: ServerResponse, streamType: string, unaryType: string) => void;

const failures: readonly Failure<Answer>[] = [
  fails("answers with a web page", getTask, InvalidResponseError, (response) =>
    response.writeHead(200, { "content-type": "text/html" }).end("<h1>Welcome</h1>"),
  ),
  fails("answers a subscription with a web page", follow, InvalidResponseError, (response) =>
    response.writeHead(200, { "content-type": "text/html" }).end("<h1>Welcome</h1>"),
  ),
  fails("fails with a web page", getTask, UnreachableError, (response) =>
    response.writeHead(502, { "content-type": "text/html" }).end("<h1>Bad gateway</h1>"),
  ),
  fails("answers with bytes that are no message", getTask, InvalidResponseError, (response, _, type) => {
    const bytes = Buffer.from([0xff, 0xff, 0xff, 0xff, 0x07, 0x01]);
    response.writeHead(200, { "content-type": type });
    response.end(type.includes("grpc") ? frame(bytes) : bytes);
  }),
  fails("sends an event that announces four gigabytes", follow, ContentTooLargeError, (response, type) => {
    response.writeHead(200, { "content-type": type });
    response.write(frame(Buffer.alloc(10), 0xffff_ffff));
  }),
  fails("sends an event without a payload", run, InvalidResponseError, (response, type) => {
    response.writeHead(200, { "content-type": type, "x-a2a-event-id": "1" });
    response.write(frame(Buffer.alloc(0)));
  }),
  // Connect's answer was no stream; gRPC-Web's may have been cut off.
  fails("ends a stream without saying so", follow, AgentError, (response, type) =>
    response.writeHead(200, { "content-type": type }).end(),
  ),
  ...neverAnswers,
  fails("cuts every connection", follow, UnreachableError, (response) => void response.destroy()),
];

describe.each([
  ["Connect", connectBinding, "application/connect+proto", "application/proto"],
  ["gRPC-Web", grpcWebBinding, "application/grpc-web+proto", "application/grpc-web+proto"],
])(
  "the client says what is wrong over %s with a server that",
  (_, protocolBinding, streamType, unaryType) => {
    it.each(failures)("$server", { timeout: soonMs }, async ({ answer, act, expected, options }) => {
      await using server = await startBrokenServer({
        serveCard: (_card, request: IncomingMessage, response) => {
          request.resume();
          answer(response, streamType, unaryType);
        },
      });
      const card = createCardJson([{ url: server.url, protocolBinding, protocolVersion: "1.0" }]);
      await using agent = await connectAgent(parseMessage(AgentCardSchema, card), { ...limits, ...options });
      const thrown = await failureOf(act(agent));
      expectTyped(thrown, expected);
      expect(thrown).toBeInstanceOf(AgentError);
    });
  },
);
