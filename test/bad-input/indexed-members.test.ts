import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { defineAgent } from "@a2a-connect/server";
import { expect, it } from "vitest";
import { serveTarget } from "./target.ts";
import { type Call, encodeCall, jsonWires, wires } from "./wires.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void; // the flag made it

/** The heap while the agent has the last message, in bytes. */
let heapUsed = 0;

const target = serveTarget({
  agent: defineAgent({
    card: { name: "Scales" },
    async *execute(turn) {
      heapUsed = measureHeap();
      yield turn.reply(`weighed ${turn.message.messageId}`);
    },
  }),
});

function measureHeap(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

/** Each of them takes 31 KB where V8 keeps an array with gaps: 155 MB. */
const objects = `[${Array(5_000).fill('{"1023":0,"2573":0}').join()}]`;
const maxBytes = 40 * 1024 * 1024;

function send(members: string, unknown = ""): Call {
  return {
    method: "SendMessage",
    json: `{"message":{"messageId":"m-1","role":"ROLE_USER",${members}}${unknown}}`,
  };
}

for (const [title, call, served] of [
  ["the data of a part", send(`"parts":[{"data":${objects}}]`), wires],
  ["metadata", send(`"parts":[{"text":"a"}],"metadata":{"a":${objects}}`), wires],
  ["an unknown field", send('"parts":[{"text":"a"}]', `,"x":${objects}`), jsonWires],
] as const) {
  for (const wire of served) {
    it(`objects in ${title} take no memory for gaps between their members' names over ${wire.name}`, async () => {
      const request = encodeCall(wire, call);
      const before = measureHeap();
      const answer = await target.send(request);
      expect(new TextDecoder().decode(answer.body)).toContain("weighed m-1");
      expect(heapUsed - before).toBeLessThan(maxBytes);
    });
  }
}
