import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { formatMessage } from "@a2a-connect/core/internal";
import { type AgentCard, AgentCardSchema } from "@a2a-connect/proto";
import { respondJson } from "./broken-server.ts";

/** Serves a card for an agent that is somewhere else. */
export interface CardFront extends AsyncDisposable {
  readonly url: string;
  /** What is served from now on. */
  card: AgentCard;
  /** How often it was asked for. */
  readonly requests: number;
}

/** Starts one on a free port of this machine. */
export async function startCardFront(card: AgentCard): Promise<CardFront> {
  let requests = 0;
  const server = createServer((_, response) => {
    requests += 1;
    respondJson(response, formatMessage(AgentCardSchema, front.card));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const front: CardFront = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, // of a TCP server
    card,
    get requests() {
      return requests;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return front;
}
