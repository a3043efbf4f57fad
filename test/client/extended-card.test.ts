// The extended card is judged as the public one is, before it takes its place.

import { CardInvalidError, type ConnectOptions, UntrustedOutputError } from "@a2a-connect/client";
import { formatMessage } from "@a2a-connect/core";
import { connectAgent } from "@a2a-connect/node/client";
import { AgentCardSchema } from "@a2a-connect/proto";
import type { JsonObject } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { type BrokenServer, respondJson, respondResult, startBrokenServer } from "./broken-server.ts";
import { failureOf, rejectedWith } from "./outcomes.ts";

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
      verifyCard: ({ url }) => void judged.push(`verify ${url === undefined ? "extended" : "public"}`),
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
    await using server = await startServer((card) => ({
      ...card,
      name: "Extended",
      somethingNew: 1,
    }));
    const judged: string[] = [];
    let text = "";
    await using agent = await connect(server, {
      verifyCard: (received) => {
        judged.push(`verify ${received.card.name}`);
        text = received.text;
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
    expect(JSON.parse(text)).toEqual(formatMessage(AgentCardSchema, card)); // canonical: also what is empty but REQUIRED
    expect(text).toContain('"tags":[]');
    expect(text).not.toContain("somethingNew");
  });

  it("has its modes read as the public one's are", async () => {
    await using server = await startServer((card) => ({ ...card, defaultInputModes: ["text"] }));
    const warnings: string[] = [];
    await using agent = await connect(server, { onWarning: (warning) => warnings.push(warning) });
    expect((await agent.getExtendedCard()).defaultInputModes).toEqual(["text/plain"]);
    expect(warnings.join(" ")).toMatch(/media types/);
  });

  it("is not in use when its verifier or its inspector refuses it", async () => {
    await using server = await startServer((card) => ({ ...card, name: "Extended" }));
    const refusal = new Error("who signed this?");
    await using verified = await connect(server, {
      verifyCard: ({ url }) => {
        if (url === undefined) throw refusal;
      },
    });
    expect(await failureOf(verified.getExtendedCard())).toBe(refusal);
    expect(verified.card.name).toBe("Broken agent");
    await using inspected = await connect(server, {
      inspect: (found) => {
        if (found.kind === "card" && found.card.name === "Extended") throw refusal;
      },
    });
    const thrown = await rejectedWith(inspected.getExtendedCard(), UntrustedOutputError);
    expect(thrown.cause).toBe(refusal);
    expect(inspected.card.name).toBe("Broken agent");
    // Nor does it get by over the generated client.
    expect(await failureOf(inspected.rpc.getExtendedAgentCard({}))).toMatchObject({ name: "ConnectError" });
  });
});
