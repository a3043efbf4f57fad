// Our agent of the circuit, in a process of its own: it does what an instruction says.
//
//   node agent.ts DESCRIPTORS     `buf build` of this folder, in base64
//
// Prints where it is, as the peers do, and ends with its standard input.

import { once } from "node:events";
import { bytes } from "@a2a-connect/core";
import { serve } from "@a2a-connect/node";
import { type AgentClient, connectAgent } from "@a2a-connect/node/client";
import type { Message, Part, StreamResponse } from "@a2a-connect/proto";
import { createMemoryTaskStore, defineAgent } from "@a2a-connect/server";
import {
  type CallAgent,
  createInstructionCodec,
  finished,
  type Instruction,
  instructionPart,
} from "./instruction.ts";

const codec = createInstructionCodec(Buffer.from(process.argv[2] ?? "", "base64"));

const agent = defineAgent({
  card: {
    name: "Circuit",
    description: "Does what an instruction says.",
    version: "1.0.0",
    defaultInputModes: [instructionPart.mediaType],
    skills: [{ id: "circuit", name: "Circuit", description: "Calls the next agent.", tags: ["test"] }],
  },
  async *execute(turn) {
    const instruction = readInstruction(turn.message);
    yield turn.working();
    const text = (await collect(instruction)).join("\n");
    if (!isHeld(instruction)) {
      yield turn.complete(text);
      return;
    }
    yield turn.working(`${text}\n${finished}`);
    await once(turn.signal, "abort");
  },
});

function readInstruction({ parts }: Message): Instruction {
  for (const { content, mediaType } of parts) {
    if (mediaType === instructionPart.mediaType && content.case === "raw") return codec.decode(content.value);
  }
  throw new Error("the message has no instruction");
}

function isHeld(instruction: Instruction): boolean {
  if ("steps" in instruction) return instruction.steps.instructions.some(isHeld);
  return "returnResponse" in instruction && instruction.returnResponse.holdTask === true;
}

async function collect(instruction: Instruction): Promise<readonly string[]> {
  if ("returnResponse" in instruction) return [instruction.returnResponse.response];
  if ("callAgent" in instruction) return await callAgent(instruction.callAgent);
  const texts: string[] = [];
  for (const step of instruction.steps.instructions) texts.push(...(await collect(step)));
  return texts;
}

async function callAgent(call: CallAgent): Promise<readonly string[]> {
  const { agentCardUri, transport, pushNotification, resubscribe, streaming = false } = call;
  // The cards of the circuit's agents do not name the media type of instructions.
  await using next = await connectAgent(agentCardUri, { pinBinding: transport, checkInputModes: false });
  const message = [bytes(codec.encode(call.instruction), instructionPart)];
  const options =
    pushNotification === undefined
      ? {}
      : { pushConfig: { url: `${pushNotification.url}/notifications`, token: "itk-token" } };
  if (resubscribe !== undefined) return await leaveAndResubscribe(next, message);
  if (!streaming) return textsOf(await next.sendMessage(message, options));
  const texts: string[] = [];
  for await (const event of next.stream(message, options)) texts.push(...textsOf(event));
  return texts;
}

async function leaveAndResubscribe(next: AgentClient, message: readonly Part[]): Promise<readonly string[]> {
  const stream = next.stream(message);
  for await (const _ of stream) break;
  const id = stream.task?.id ?? "";
  for await (const event of next.follow(id)) {
    const text = textsOf(event).join("\n");
    if (!text.includes(finished)) continue;
    await next.cancelTask(id);
    return [text.replaceAll(finished, "").trim()];
  }
  throw new Error(`the subscription ended before ${finished}`);
}

/** The texts of an answer: of a message, or of a task's status. */
function textsOf({ payload }: Pick<StreamResponse, "payload">): readonly string[] {
  const message =
    payload.case === "message"
      ? payload.value
      : payload.case === "task" || payload.case === "statusUpdate"
        ? payload.value.status?.message
        : undefined;
  return (message?.parts ?? []).flatMap((part) => (part.content.case === "text" ? part.content.value : []));
}

// The kit sends its first message to `/jsonrpc/`.
const served = await serve(agent, {
  store: createMemoryTaskStore(),
  push: { allow: ["127.0.0.1"] },
  mounts: { jsonRpc: "/jsonrpc" },
});
process.stdout.write(`${JSON.stringify({ ready: { url: served.url, GRPC: new URL(served.url).host } })}\n`);
await once(process.stdin.resume(), "end");
await served.close({ graceMs: 0 });
