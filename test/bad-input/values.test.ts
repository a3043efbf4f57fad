import { describe, expect, it } from "vitest";
import { serveTarget, type Target } from "./target.ts";
import { type Call, encodeBytes, encodeCall, jsonWires, type Wire, wires, wrapParams } from "./wires.ts";

const limit = 1_000;
const small = serveTarget({ wires: { maxValues: limit } });
const normal = serveTarget();

/** Longer than what is read at once, so that counting is seen where texts are read in slices, too. */
const filler = " ".repeat(100_000);

const zeros = (count: number) => `[${Array(count).fill(0).join()}]`;

function send(members: string, json = ""): Call {
  const message = `{"messageId":"m-1","role":"ROLE_USER",${members}}`;
  return { method: "SendMessage", json: `{"message":${message}${json}${filler}}` };
}

/** How many values a request has beside those of its data part: the envelope, its members and their names. */
function valuesAround(wire: Wire, call: Call): number {
  const text = wire.protocol === "jsonrpc" ? wrapParams(call) : (call.json ?? "");
  return text.replaceAll(/"[^"]*"|\w+/g, "x").replaceAll(/[^x{[]/g, "").length;
}

/** A request of exactly this many values, most of them in the data of a part. */
function requestOf(wire: Wire, values: number): Call {
  const call = (count: number) => send(`"parts":[{"data":${zeros(count)}}]`);
  return call(values - valuesAround(wire, call(0)));
}

async function expectRefused(target: Target, wire: Wire, call: Call, max: number, field: string) {
  const refusal = await target.refuses(wire, encodeCall(wire, call), { error: "invalidParams", field });
  expect(refusal.message).toContain(`has more than ${max} values, counting each member name as one`);
}

for (const wire of jsonWires) {
  describe(`the values of a request over ${wire.name}`, () => {
    const accepts = async (target: Target, call: Call) => {
      const answer = await target.send(encodeCall(wire, call));
      const text = new TextDecoder().decode(answer.body);
      expect(text).not.toContain("counting each member name");
      // The agent may say what it likes of the data.
      expect(text).toMatch(/"(?:task|message)"/);
    };

    it("may be as many as the limit", () => accepts(small, requestOf(wire, limit)));

    it("may not be one more", () =>
      expectRefused(small, wire, requestOf(wire, limit + 1), limit, "message.parts[0].data"));

    it("may be 100,000 numbers, or a table of 5,000 rows and 10 columns", async () => {
      await accepts(normal, send(`"parts":[{"data":${zeros(100_000)}}]`));
      const row = `{${Array.from({ length: 10 }, (_, column) => `"c${column}":${column}`).join()}}`;
      const table = `[${Array(5_000).fill(row).join()}]`;
      await accepts(normal, send(`"parts":[{"data":${table}}]`));
    });

    it("may not be more than 120,000 by default", () =>
      expectRefused(normal, wire, requestOf(wire, 120_001), 120_000, "message.parts[0].data"));

    for (const [title, call, field] of [
      ["metadata", send(`"parts":[{"text":"a"}],"metadata":{"a":${zeros(limit)}}`), /^message\.metadata/],
      ["names alone", send(`"parts":[{"data":{${members(limit / 2)}}}]`), "message.parts[0].data"],
      ["unknown fields", send('"parts":[{"text":"a"}]', `,"x":{"y":${zeros(limit)}}`), /^x\.y/],
      ["many parts", send(`"parts":[${Array(limit).fill('{"text":"a"}').join()}]`), /^message\.parts\[\d+\]/],
    ] as const) {
      it(`count in ${title}`, async () => {
        const expected = { error: "invalidParams", field } as const;
        await small.refuses(wire, encodeCall(wire, call), expected);
      });
    }
  });
}

describe("an id", () => {
  const fields = {
    "message.messageId": (id: string) => send('"parts":[{"text":"a"}]').json?.replace("m-1", id),
    "message.contextId": (id: string) => send(`"parts":[{"text":"a"}],"contextId":"${id}"`).json,
    "message.taskId": (id: string) => send(`"parts":[{"text":"a"}],"taskId":"${id}"`).json,
    tenant: (id: string) => send('"parts":[{"text":"a"}]', `,"tenant":"${id}"`).json,
  };
  for (const wire of wires) {
    it(`may not be longer than 512 characters over ${wire.name}`, async () => {
      for (const [field, json] of Object.entries(fields)) {
        const call = { method: "SendMessage", json: json("x".repeat(513)) ?? "" } as const;
        await normal.refuses(wire, encodeCall(wire, call), { error: "invalidParams", field });
      }
    });
  }
});

describe("a list of texts", () => {
  const texts = (count: number, length: number) => JSON.stringify(Array(count).fill("x".repeat(length)));
  const modes = (list: string) =>
    send('"parts":[{"text":"a"}]', `,"configuration":{"acceptedOutputModes":${list}}`);
  const extensions = (list: string) => send(`"parts":[{"text":"a"}],"extensions":${list}`);
  const references = (list: string) => send(`"parts":[{"text":"a"}],"referenceTaskIds":${list}`);
  for (const wire of wires) {
    it(`may not have too many or too long texts over ${wire.name}`, async () => {
      for (const [call, field] of [
        [modes(texts(101, 1)), "configuration.acceptedOutputModes"],
        [modes(texts(1, 1_025)), "configuration.acceptedOutputModes[0]"],
        [extensions(texts(1, 2_049)), "message.extensions[0]"],
        [references(texts(1, 513)), "message.referenceTaskIds[0]"],
      ] as const) {
        const refusal = await normal.refuses(wire, encodeCall(wire, call), { error: "invalidParams", field });
        expect(refusal.message).toMatch(/has \d+ (?:texts|characters); at most \d+ are taken/);
      }
      for (const call of [modes(texts(100, 1_024)), extensions(texts(3, 2_048)), references(texts(3, 512))]) {
        const { status, body } = await normal.send(encodeCall(wire, call));
        expect([status, new TextDecoder().decode(body)]).toEqual([
          200,
          expect.not.stringContaining("are taken"),
        ]);
      }
    });
  }
});

function members(count: number): string {
  return Array.from({ length: count }, (_, index) => `"k${index}":0`).join();
}

const [jsonRpc] = jsonWires as readonly [Wire];

describe("JSON-RPC", () => {
  const params = `{"message":{"parts":[{"data":${zeros(limit)}}]}}`;

  for (const [title, text, id] of [
    ["before its params", `{"jsonrpc":"2.0","id":7,"method":"SendMessage","params":${params}}`, 7],
    ["after its params", `{"jsonrpc":"2.0","method":"SendMessage","params":${params},"id":"\\u0061"}`, "a"],
    [
      "after its params, behind white space",
      `{"params":${params} , "id" : -12${" \n}".padEnd(200, " ")}`,
      -12,
    ],
    ["between large members", `{"a":${zeros(8192)},"id":7,"b":${zeros(8192)}}`, null],
    ["nowhere", `{"jsonrpc":"2.0","method":"SendMessage","params":${params}}`, null],
    ["in its params only", `{"jsonrpc":"2.0","method":"SendMessage","params":{"x":${params},"id":1}}`, null],
    [
      "that is none",
      `{"jsonrpc":"2.0","method":"SendMessage","params":${params},"id":${zeros(limit)}}`,
      null,
    ],
    ["that is too long", `{"params":${params},"id":"${"x".repeat(500_000)}"}`, null],
    ["in what is no JSON", `{"params":${params},"id":"a`, null],
    ["in a batch", `[{"jsonrpc":"2.0","id":7,"method":"SendMessage","params":${params}}]`, null],
  ] as const) {
    it(`answers to the id of a request with too many values: ${title}`, async () => {
      const answer = await small.send(encodeBytes(jsonRpc, new TextEncoder().encode(text)));
      expect(answer.status).toBe(200);
      expect(JSON.parse(new TextDecoder().decode(answer.body))).toMatchObject({
        id,
        error: { code: -32602 },
      });
    });
  }

  it("counts its envelope, too", async () => {
    const text = `{"jsonrpc":"2.0","id":1,"x":${zeros(limit)},"method":"ListTasks","params":{}}`;
    const answer = await small.send(encodeBytes(jsonRpc, new TextEncoder().encode(text)));
    expect(JSON.parse(new TextDecoder().decode(answer.body))).toMatchObject({
      id: 1,
      error: {
        code: -32602,
        data: [{}, { fieldViolations: [{ field: expect.stringMatching(/^x\[\d+\]$/) }] }],
      },
    });
  });
});
