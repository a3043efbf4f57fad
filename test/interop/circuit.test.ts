// A message travels through agents in different languages, over different wires, and comes back with a word of each: what
// the public integration kit of the A2A project does with agents that understand its instructions.

import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { type RawRequest, startReceiver } from "@a2a-connect/conformance";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundleProgram } from "../../packages/cli/test-support/bundled-program.ts";
import {
  type CallAgent,
  createInstructionCodec,
  type Instruction,
  instructionPart,
} from "./circuit/instruction.ts";
import type { Binding } from "./peers/caller.ts";
import { languages, root, whereInstalled } from "./peers/languages.ts";
import { type PeerProcess, startPeer } from "./peers/peer-process.ts";

const descriptors = execFileSync(
  join(root, "node_modules/.bin/buf"),
  ["build", "test/interop/circuit", "-o", "-"],
  {
    cwd: root,
  },
);
const codec = createInstructionCodec(descriptors);

/** Each agent calls each other one: the numbers are those of `agents`, 0 is ours. */
const route = [0, 1, 2, 0, 2, 1, 0];

/** A call of the circuit, without its agent and its instruction. */
type How = Omit<CallAgent, "agentCardUri" | "instruction">;

describe("the circuit", whereInstalled(...languages), () => {
  const agents: PeerProcess[] = [];
  beforeAll(async () => {
    const ours = await bundleProgram(new URL("circuit/agent.ts", import.meta.url));
    const line = [process.execPath, ours] as const;
    agents.push(await startPeer({ line }, descriptors.toString("base64")));
    for (const { programs } of languages) agents.push(await startPeer(programs.sdk, "{}"));
  });
  afterAll(async () => {
    for (const agent of agents) await agent[Symbol.asyncDispose]();
  });

  /** What the agent at a stop of the route is told: its word, then the rest of the route. */
  function instruct(stop: number, hops: readonly How[], isHeld = false): Instruction {
    const word: Instruction = { returnResponse: { response: wordAt(stop), holdTask: isHeld } };
    const [hop, ...rest] = hops;
    if (hop === undefined) return { steps: { instructions: [word] } };
    const instruction = instruct(stop + 1, rest, hop.resubscribe !== undefined);
    const agentCardUri = agents[route[stop + 1] ?? 0]?.agent.url ?? "";
    return { steps: { instructions: [word, { callAgent: { ...hop, agentCardUri, instruction } }] } };
  }

  /** Begins the circuit as the kit does, and gives the words that come back. */
  async function send(hops: readonly How[]): Promise<string> {
    const raw = Buffer.from(codec.encode(instruct(0, hops))).toString("base64");
    const message = { messageId: randomUUID(), role: "ROLE_USER", parts: [{ raw, ...instructionPart }] };
    const response = await fetch(`${agents[0]?.agent.url}/jsonrpc/`, {
      method: "POST",
      headers: { "content-type": "application/json", "a2a-version": "1.0" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message } }),
    });
    const { result } = (await response.json()) as { result?: { task: { status: JsonObject } } }; // as JSON-RPC has it
    expect(result).toMatchObject({ task: { status: { state: "TASK_STATE_COMPLETED" } } });
    return textsIn(result?.task.status).join();
  }

  const bindings: readonly Binding[] = ["JSONRPC", "HTTP+JSON", "GRPC"];
  const edges = route.slice(1);
  const words = route.map((_, stop) => wordAt(stop));

  describe.each(bindings)("over %s", (transport) => {
    it("brings every word back by calls that wait", async () => {
      expect(await send(edges.map(() => ({ transport })))).toBe(words.join("\n"));
    });

    it("brings every word back by streams", async () => {
      expect(await send(edges.map(() => ({ transport, streaming: true })))).toBe(words.join("\n"));
    });

    it("brings every word back by streams that are left and subscribed to again", async () => {
      const hop = { transport, streaming: true, resubscribe: {} };
      expect(await send(edges.map(() => hop))).toBe(words.join("\n"));
    });

    it("tells a webhook at every stop", async () => {
      await using receiver = await startReceiver();
      const hop = { transport, pushNotification: { url: receiver.url } };
      expect(await send(edges.map(() => hop))).toBe(words.join("\n"));
      const wanted = edges.map((_, edge) => words.slice(edge + 1).join("\n"));
      await receiver.until((requests) => wanted.every((text) => toldTo(requests).includes(text)));
      for (const { path, head } of receiver.requests) {
        expect(path).toBe("/notifications");
        expect(head).toMatch(/^(x-)?a2a-notification-token: itk-token$/im); // Go's has no x
      }
    });
  });

  it("brings every word back when each hop is another wire and another kind of call", async () => {
    await using receiver = await startReceiver();
    const hops = edges.map((_, edge): How => {
      const transport = bindings[edge % bindings.length] ?? "GRPC";
      const kinds = [
        { transport },
        { transport, streaming: true },
        { transport, streaming: true, resubscribe: {} },
        { transport, pushNotification: { url: receiver.url } },
      ];
      return kinds[edge % kinds.length] ?? { transport };
    });
    expect(await send(hops)).toBe(words.join("\n"));
    await receiver.until((requests) => toldTo(requests).includes(words.slice(4).join("\n")));
  });
});

function toldTo(requests: readonly RawRequest[]): readonly string[] {
  return requests.flatMap(({ body }) => textsIn(JSON.parse(body.toString())));
}

/** The texts in the JSON of a status, or of what has one. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    name === "text" ? String(member) : textsIn(member),
  );
}

function wordAt(stop: number): string {
  return `stop ${stop} at agent ${route[stop]}`;
}
