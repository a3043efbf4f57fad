// The extended card is judged as the public one is, before it takes its place.

import {
  CardInvalidError,
  CardRefusedError,
  type ConnectOptions,
  type ReceivedCard,
  UntrustedOutputError,
} from "@a2a-connect/client";
import { connectAgent } from "@a2a-connect/node/client";
import type { JsonObject } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { failureOf, rejectedWith } from "../../packages/client/test-support/outcomes.ts";
import { type BrokenServer, respondJson, respondResult, startBrokenServer } from "./broken-server.ts";

const capabilities = { streaming: true, extendedAgentCard: true };

function startServer(extend: (card: JsonObject) => JsonObject): Promise<BrokenServer> {
  let publicCard: JsonObject = {};
  return startBrokenServer({
    serveCard: (card, _, response) => {
      publicCard = { ...card, capabilities };
      respondJson(response, publicCard);
    },
    answer: (call) => respondResult(call, extend(publicCard)),
  });
}

describe.each(["JSONRPC", "HTTP+JSON"])("an extended card over %s", (pinBinding) => {
  const connect = ({ url }: BrokenServer, options: ConnectOptions = {}) =>
    connectAgent(url, { pinBinding, ...options });

  it("is refused when it lacks what a card must have, and nobody has to judge it", async () => {
    await using server = await startServer(() => ({ name: "Half a card", skills: [{ id: "x" }] }));
    const judged: string[] = [];
    await using agent = await connect(server, {
      verifyCard: ({ extended }) => void judged.push(`verify ${extended ? "extended" : "public"}`),
      inspect: ({ kind }) => void judged.push(`inspect ${kind}`),
    });
    const thrown = await rejectedWith(agent.getExtendedCard(), CardInvalidError);
    expect(thrown.message).toMatch(/extended card cannot be used/);
    expect(thrown.problems.join(" ")).toMatch(/version.*supportedInterfaces|supportedInterfaces.*version/);
    expect(thrown.problems.join(" ")).toMatch(/skills\.0\.name|skills\[0\]\.name/);
    expect(agent.card.name).toBe("Broken agent");
    expect(judged).toEqual(["verify public", "inspect card"]);
  });

  it("is verified, then inspected, each once, and then in use", async () => {
    let sent: JsonObject = {};
    await using server = await startServer((card) => {
      sent = { ...card, name: "Extended", somethingNew: { a: "", b: [] }, iconUrl: null };
      return sent;
    });
    const judged: string[] = [];
    let seen: ReceivedCard | undefined;
    await using agent = await connect(server, {
      verifyCard: (received) => {
        judged.push(`verify ${received.card.name}`);
        seen = received;
      },
      inspect: (inspected) =>
        void judged.push(`inspect ${inspected.kind === "card" ? inspected.card.name : inspected.kind}`),
    });
    const card = await agent.getExtendedCard();
    expect(judged).toEqual([
      "verify Broken agent",
      "inspect Broken agent",
      "verify Extended",
      "inspect Extended",
    ]);
    expect(agent.card).toBe(card);
    expect(seen).toEqual({
      url: `${server.url}/.well-known/agent-card.json`,
      asked: `${server.url}/.well-known/agent-card.json`,
      text: JSON.stringify(sent), // with what nobody knows, and what says nothing
      card,
      extended: true,
    });
  });

  it("has its modes read as the public one's are", async () => {
    await using server = await startServer((card) => ({ ...card, defaultInputModes: ["text"] }));
    const warnings: string[] = [];
    await using agent = await connect(server, { onWarning: (warning) => warnings.push(warning) });
    expect((await agent.getExtendedCard()).defaultInputModes).toEqual(["text/plain"]);
    await agent.getExtendedCard();
    expect(warnings.filter((warning) => /media types/.test(warning))).toHaveLength(1); // once for a text
  });

  it("is not in use when its verifier or its inspector refuses it", async () => {
    await using server = await startServer((card) => ({ ...card, name: "Extended" }));
    const refusal = new Error("who signed this?");
    await using verified = await connect(server, {
      verifyCard: ({ extended }) => {
        if (extended) throw refusal;
      },
    });
    const refused = await rejectedWith(verified.getExtendedCard(), CardRefusedError);
    expect(refused.cause).toBe(refusal);
    expect(refused.message).toMatch(
      /^The extended card of the agent at http.* is not trusted: who signed this\?$/,
    );
    expect(verified.card.name).toBe("Broken agent");
    // Nor does it get by over the generated client.
    expect(await failureOf(verified.rpc.getExtendedAgentCard({}))).toMatchObject({
      name: "ConnectError",
      cause: { name: "CardRefusedError", cause: refusal },
    });
    await using inspected = await connect(server, {
      inspect: (found) => {
        if (found.kind === "card" && found.card.name === "Extended") throw refusal;
      },
    });
    const thrown = await rejectedWith(inspected.getExtendedCard(), UntrustedOutputError);
    expect(thrown.cause).toBe(refusal);
    expect(inspected.card.name).toBe("Broken agent");
    expect(await failureOf(inspected.rpc.getExtendedAgentCard({}))).toMatchObject({ name: "ConnectError" });
  });

  it("has its text read once: a name that stands twice is refused, and so is one that is too long", async () => {
    let card = "";
    await using server = await startBrokenServer({
      serveCard: (given, _, response) => {
        const shown = { ...given, capabilities };
        card = JSON.stringify(shown);
        respondJson(response, shown);
      },
      answer: ({ binding, id, response }) => {
        const twice = `${card.slice(0, -1)},"name":"Mallory"}`;
        response.writeHead(200, { "content-type": "application/json" });
        response.end(
          binding === "JSONRPC" ? `{"jsonrpc":"2.0","result":${twice},"id":${JSON.stringify(id)}}` : twice,
        );
      },
    });
    const judged: string[] = [];
    const verifyCard = ({ card: { name } }: ReceivedCard) => void judged.push(name);
    await using agent = await connect(server, { verifyCard });
    const twice = await rejectedWith(agent.getExtendedCard(), CardInvalidError);
    expect(twice.message).toMatch(/"name" twice/);
    await using short = await connect(server, { verifyCard, maxCardBytes: card.length });
    const long = await rejectedWith(short.getExtendedCard(), CardInvalidError);
    expect(long.message).toContain(`larger than the limit of ${card.length} bytes`);
    expect(await failureOf(short.rpc.getExtendedAgentCard({}))).toMatchObject({
      cause: { name: "CardInvalidError" },
    });
    expect([agent.card.name, short.card.name]).toEqual(["Broken agent", "Broken agent"]);
    expect(judged).toEqual(["Broken agent", "Broken agent"]);
  });

  for (const status of [302, 307, 308, 304]) {
    it(`is not taken from where status ${status} leads`, async () => {
      await using elsewhere = await startServer((card) => ({ ...card, name: "Elsewhere" }));
      let publicCard: JsonObject = {};
      await using server = await startBrokenServer({
        serveCard: (card, _, response) => {
          publicCard = { ...card, capabilities };
          respondJson(response, publicCard);
        },
        answer: ({ request, response, binding, id }) => {
          const card = { ...publicCard, name: "Redirected" };
          const body = binding === "JSONRPC" ? { jsonrpc: "2.0", id, result: card } : card;
          respondJson(response, body, status, { location: `${elsewhere.url}${request.url}` });
        },
      });
      const judged: string[] = [];
      await using agent = await connect(server, {
        retry: { attempts: 1 },
        verifyCard: ({ card }) => void judged.push(card.name),
      });
      await expect(agent.getExtendedCard()).rejects.toThrow();
      expect(agent.card.name).toBe("Broken agent");
      expect(judged).toEqual(["Broken agent"]);
      expect(elsewhere.calls).toEqual([]);
    });
  }
});
