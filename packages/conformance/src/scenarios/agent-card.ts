import { findA2AError, lifecycleExtension, text } from "@a2a-connect/core";
import { findMissingFields, parseMessage } from "@a2a-connect/core/internal";
import { AgentCardSchema, TaskState } from "@a2a-connect/proto";
import type { JsonObject } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { expectReason, failureOf, newId, sendTask, showCode, toRequest } from "../calls.ts";
import { listOf } from "../card-facts.ts";
import { findDefects, isOlderMember } from "../closed-schema.ts";
import { expect } from "../expect.ts";
import type { Wire } from "../platform.ts";
import { readAnswer, writeCall } from "../raw-calls.ts";
import { callGrpc } from "../raw-grpc.ts";
import { NotApplicable, type ScenarioGroup, scenarios } from "../scenario.ts";
import { type Target, wiresByBinding } from "../target.ts";

const path = "/.well-known/agent-card.json";

/** L */
export const agentCard: ScenarioGroup = scenarios("L Agent card", ({ verifies, anyAgent }) => {
  const bare = verifies.where({ server: "bare" });

  verifies("L-1", "is public, and has all that a card needs", async ({ target }) => {
    const response = await target.fetch(path);
    expect([response.status, response.headers.get("content-type")]).toStrictEqual([200, "application/json"]);
    const card: PublicCard = await response.json();
    expect(card).toMatchObject({
      name: expect.stringMatching(/\w/),
      description: expect.stringMatching(/\w/),
      version: expect.stringMatching(/\w/),
      capabilities: { streaming: true },
      defaultInputModes: ["*/*"],
      defaultOutputModes: ["*/*"],
      skills: ["commands", "durable-commands", "restarting-commands"].map((id) => ({
        id,
        name: expect.stringMatching(/\w/),
        description: expect.stringMatching(/\w/),
        tags: expect.arrayContaining(["reference", "testing"]),
      })),
    });
    for (const { url, protocolVersion } of card.supportedInterfaces) {
      expect([url, protocolVersion]).toStrictEqual([
        expect.stringContaining(new URL(target.url).host),
        expect.stringMatching(/^1\.[01]$/),
      ]);
    }
  });

  anyAgent("L-1", "is public JSON, and has all that a card needs", async ({ target }) => {
    const response = await target.fetch(path);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toMatch(/^application\/([\w.]+\+)?json\b/);
    const missing = findMissingFields(AgentCardSchema, parseMessage(AgentCardSchema, await response.json()));
    expect(missing).toStrictEqual([]);
  });

  anyAgent.where({ places: ["card"] })(
    "L-1 F-1",
    "answers over each wire of version 1.0 that it names, at the address that it gives",
    async ({ target }) => {
      for (const wire of target.wires) {
        const error = await failureOf(target.client(wire).getTask({ id: newId() }));
        if (error.code === Code.Unauthenticated) continue; // an answer, too
        expect([wire, findA2AError(error)?.reason], error.message).toStrictEqual([wire, "TASK_NOT_FOUND"]);
      }
      for (const { protocolVersion } of listOf(target.card["supportedInterfaces"])) {
        expect(protocolVersion).toMatch(/^\d+\.\d+$/);
      }
    },
  );

  anyAgent("L-4", "names its bindings as the specification does, or by a URI", async ({ target }) => {
    for (const { protocolBinding } of listOf(target.card["supportedInterfaces"])) {
      expect(protocolBinding).toMatch(/^(JSONRPC|GRPC|HTTP\+JSON)$|^[a-z][a-z\d+.-]*:./);
    }
  });

  anyAgent("J-2", "gives the address of gRPC as a bare host and port", async ({ target }) => {
    const found = listOf(target.card["supportedInterfaces"]).filter(
      (one) => one["protocolBinding"] === "GRPC",
    );
    if (found.length === 0) throw new NotApplicable("the card names no gRPC");
    for (const { url } of found) expect(url).toMatch(/^[^/]+:\d+$/);
  });

  anyAgent("L-5", "says for how long it may be kept, and has a tag", async ({ target }) => {
    const { headers } = await target.fetch(path);
    expect(headers.get("cache-control") ?? "", "Cache-Control").toMatch(/\bmax-age=\d+/);
    expect(headers.get("etag") ?? "", "ETag").toMatch(/^(W\/)?"[^"]*"$/);
  });

  anyAgent("L-5", "is not sent again to a caller who names its tag", async ({ target }) => {
    const etag = (await target.fetch(path)).headers.get("etag");
    if (etag === null) throw new NotApplicable("the card has no tag");
    // With a condition of the caller's, the platform's fetch says no-cache, which asks for the whole card.
    const headers = { "if-none-match": etag, "cache-control": "max-age=0" };
    expect((await target.fetch(path, { headers })).status).toBe(304);
  });

  verifies(
    "L-1 L-2 L-4 J-2 F-7",
    "lists every wire in order, each at an address that answers over it, and the draft after what is settled",
    async ({ target }) => {
      const { supportedInterfaces } = await servedCard(target);
      const inOrder = ["jsonrpc", "http-json", "grpc", "connect", "grpc-web"] as const;
      const served = supportedInterfaces.map(({ protocolBinding, ...rest }) => ({
        ...rest,
        wire: wiresByBinding.get(protocolBinding),
      }));
      expect(served.map(({ wire, protocolVersion }) => [protocolVersion, wire])).toStrictEqual(
        ["1.0", "1.1"].flatMap((version) => inOrder.map((wire) => [version, wire])),
      );
      for (const { wire = "grpc", url, protocolVersion } of served) {
        expect([wire, await answers(target, wire, url, protocolVersion)]).toStrictEqual([wire, true]);
      }
      expect(supportedInterfaces[2]?.url).toMatch(/^[\w.-]+:\d+$/);
    },
  );

  bare("L-1 A-20", "declares what the agent does and does not do", async ({ target }) => {
    expect((await servedCard(target)).capabilities).toMatchObject({
      streaming: false,
      pushNotifications: false,
      extendedAgentCard: false,
    });
  });

  verifies("L-5", "may be kept, and is revalidated by tag or by date", async ({ target }) => {
    const response = await target.fetch(path);
    await response.arrayBuffer();
    expect(response.headers.get("cache-control")).toMatch(/\bmax-age=\d+/);
    const etag = response.headers.get("etag") ?? "";
    const modified = response.headers.get("last-modified") ?? "";
    expect(etag).toMatch(/^(W\/)?"[^"]+"$/);
    expect(Date.parse(modified)).not.toBeNaN();
    for (const [condition, status] of [
      [{ "if-none-match": etag }, 304],
      [{ "if-none-match": `"other", ${etag}` }, 304],
      [{ "if-none-match": "*" }, 304],
      [{ "if-modified-since": modified }, 304],
      [{ "if-none-match": '"other"' }, 200],
      [{ "if-none-match": '"other"', "if-modified-since": modified }, 200],
      [{ "if-modified-since": new Date(Date.parse(modified) - 60_000).toUTCString() }, 200],
    ] as const) {
      const again = await target.fetch(path, { headers: condition });
      const length = (await again.arrayBuffer()).byteLength;
      expect([condition, again.status, length > 0]).toStrictEqual([condition, status, status === 200]);
      expect(again.headers.get("etag")).toBe(etag);
    }
  });

  verifies("L-7", "has no members beyond the schema but those of 0.3", async ({ target }) => {
    const others = (card: JsonObject) =>
      findDefects(AgentCardSchema, card, isOlderMember).map(({ path }) => path);
    const card = await servedCard(target);
    expect(others(card)).toStrictEqual([]);
    expect(others({ ...card, preferedTransport: "GRPC" })).toStrictEqual(["preferedTransport"]);
  });

  bare("L-8", "lets a skill take what the agent does not, and the other way round", async ({ client }) => {
    const picture = text("<svg/>", { mediaType: "image/svg+xml" });
    const forPictures = { metadata: { [lifecycleExtension]: { skill: "pictures" } } };
    const task = await sendTask(client, "", { parts: [picture], ...forPictures });
    expect(task.status?.state).toBe(TaskState.COMPLETED);
    await expectReason(client.sendMessage(toRequest("", { parts: [picture] })), "CONTENT_TYPE_NOT_SUPPORTED");
    await expectReason(client.sendMessage(toRequest("words", forPictures)), "CONTENT_TYPE_NOT_SUPPORTED");
  });
});

/** The members of a card that are looked at one by one. */
interface PublicCard extends JsonObject {
  readonly capabilities: JsonObject;
  readonly supportedInterfaces: { protocolBinding: string; protocolVersion: string; url: string }[];
}

async function servedCard(target: Target): Promise<PublicCard> {
  return (await target.fetch(path)).json();
}

/** Whether an empty ListTasks comes back from that address over that wire in that version. */
async function answers(target: Target, wire: Wire, url: string, protocolVersion: string): Promise<boolean> {
  const version = { "a2a-version": protocolVersion };
  if (wire === "grpc") {
    return (await callGrpc(target, "listTasks", {}, version, `http://${url}`)).status === showCode(0);
  }
  const [path, init] = writeCall(wire, "listTasks", {}, version);
  const { text, result } = await readAnswer(await target.fetchFrom(url + path, init));
  return wire === "grpc-web" ? text.includes("grpc-status: 0") : result?.pageSize === 50;
}
