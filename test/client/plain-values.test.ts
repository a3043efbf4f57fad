// Text and JSON, read on both sides without a word of protobuf.
import { json, TaskFailedError } from "@a2a-connect/client";
import { createMemoryTaskStore, defineAgent, serve } from "@a2a-connect/node";
import { connectAgent } from "@a2a-connect/node/client";
import * as v from "valibot";
import { describe, expect, it } from "vitest";

const agent = defineAgent({
  card: { name: "Values" },
  async *execute(turn) {
    if (turn.data !== undefined) return yield turn.artifact({ data: { got: turn.data } });
    if (turn.text === "direct") return yield turn.reply('{ "direct": true }');
    for (const chunk of ["One. ", "Two."]) yield turn.append("story", chunk);
    if (turn.text === "fail") yield turn.fail("no third one");
  },
});

async function connect() {
  const served = await serve(agent, { store: createMemoryTaskStore(), shutdown: false });
  const client = await connectAgent(served.url);
  return { client, [Symbol.asyncDispose]: () => client.close().then(() => served.close({ graceMs: 0 })) };
}

async function collect(texts: AsyncIterable<string>, into: string[] = []): Promise<string[]> {
  for await (const text of texts) into.push(text);
  return into;
}

describe("plain values", () => {
  it("go to the agent as JSON, and come back as JSON", async () => {
    await using peer = await connect();
    const result = await peer.client.run([json({ n: 1, list: [null, "a"] })]);
    expect(result.json()).toEqual({ got: { n: 1, list: [null, "a"] } });
    expect(await result.json(v.object({ got: v.object({ n: v.number() }) }))).toEqual({ got: { n: 1 } });
    await expect(result.json(v.object({ got: v.string() }))).rejects.toThrow("does not fit the schema");
  });

  it("are read from a direct answer", async () => {
    await using peer = await connect();
    const result = await peer.client.run("direct");
    expect([result.json(), await result.json(v.object({ direct: v.boolean() }))]).toEqual([
      { direct: true },
      { direct: true },
    ]);
  });

  it("come as text while it is written", async () => {
    await using peer = await connect();
    expect(await collect(peer.client.streamText("a story"))).toEqual(["One. ", "Two."]);
    expect(await collect(peer.client.streamText("direct"))).toEqual(['{ "direct": true }']);
  });

  it("come until the task fails, and then its error", async () => {
    await using peer = await connect();
    const texts: string[] = [];
    await expect(collect(peer.client.streamText("fail"), texts)).rejects.toThrow(TaskFailedError);
    expect(texts).toEqual(["One. ", "Two."]);
  });

  it("may be left early", async () => {
    await using peer = await connect();
    for await (const text of peer.client.streamText("a story")) {
      expect(text).toBe("One. ");
      break;
    }
  });
});
