// Workers answer each request apart from the others, and an agent's tasks outlast requests: it lives in a Durable Object.

import { DurableObject } from "cloudflare:workers";
import { connectAgent } from "@a2a-connect/client";
import { createHandler } from "./agent.mjs";
import { callAgent } from "./client.mjs";

export class Agent extends DurableObject {
  #handler = createHandler();

  fetch(request) {
    return this.#handler(request);
  }
}

export default {
  async fetch(request, { AGENT }) {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/call") return Response.json(await callAgent(connectAgent, searchParams.get("url")));
    return AGENT.getByName("agent").fetch(request);
  },
};
