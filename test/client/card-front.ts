import { formatMessage } from "@a2a-connect/core/internal";
import { type AgentCard, AgentCardSchema } from "@a2a-connect/proto";
import { type HttpServer, startHttpServer } from "../../packages/client/test-support/http-server.ts";
import { respondJson } from "./broken-server.ts";

/** Serves a card for an agent that is somewhere else. */
export interface CardFront extends HttpServer {
  /** What is served from now on. */
  card: AgentCard;
}

/** Starts one on a free port of this machine. */
export async function startCardFront(card: AgentCard): Promise<CardFront> {
  const server = await startHttpServer((_, response) =>
    respondJson(response, formatMessage(AgentCardSchema, front.card)),
  );
  const front = { ...server, card };
  return front;
}
