import { describe, expect, it } from "vitest";
import { serveTarget } from "./target.ts";
import { encodeBytes, type Wire, wires } from "./wires.ts";

const target = serveTarget();
const [jsonRpc] = wires as readonly [Wire];

interface Row {
  readonly title: string;
  /** The whole body, as JSON or its text. */
  readonly body: unknown;
  readonly code: number;
  readonly id: string | number | null;
  readonly field?: string;
}

const call = { jsonrpc: "2.0", id: 7, method: "ListTasks", params: {} };
const invalidRequest = -32600;
const unknownMethod = -32601;
const invalidParams = -32602;

/** Requirements I-2, I-8, I-9, I-13. */
const rows: readonly Row[] = [
  { title: "a batch", body: [call], code: invalidRequest, id: null },
  { title: "a batch of nothing", body: [], code: invalidRequest, id: null },
  { title: "a word", body: '"hello"', code: invalidRequest, id: null },
  { title: "null", body: "null", code: invalidRequest, id: null },
  { title: "a number", body: "5", code: invalidRequest, id: null },
  { title: "an empty object", body: {}, code: invalidRequest, id: null },
  { title: "no id", body: { ...call, id: undefined }, code: invalidRequest, id: null, field: "id" },
  { title: "a fraction for an id", body: { ...call, id: 1.5 }, code: invalidRequest, id: null, field: "id" },
  { title: "true for an id", body: { ...call, id: true }, code: invalidRequest, id: null, field: "id" },
  { title: "an object for an id", body: { ...call, id: {} }, code: invalidRequest, id: null, field: "id" },
  {
    title: "a long id",
    body: { ...call, id: "x".repeat(65_537) },
    code: invalidRequest,
    id: null,
    field: "id",
  },
  {
    title: "an id that JSON numbers cannot carry",
    body: { ...call, id: 1e300 },
    code: invalidRequest,
    id: null,
    field: "id",
  },
  {
    title: "no jsonrpc",
    body: { ...call, jsonrpc: undefined },
    code: invalidRequest,
    id: 7,
    field: "jsonrpc",
  },
  { title: "jsonrpc 1.0", body: { ...call, jsonrpc: "1.0" }, code: invalidRequest, id: 7, field: "jsonrpc" },
  {
    title: "jsonrpc as a number",
    body: { ...call, jsonrpc: 2 },
    code: invalidRequest,
    id: 7,
    field: "jsonrpc",
  },
  { title: "no method", body: { ...call, method: undefined }, code: invalidRequest, id: 7, field: "method" },
  {
    title: "a number for a method",
    body: { ...call, method: 5 },
    code: invalidRequest,
    id: 7,
    field: "method",
  },
  { title: "an unknown method", body: { ...call, method: "Nope" }, code: unknownMethod, id: 7 },
  { title: "a method in lower case", body: { ...call, method: "listTasks" }, code: unknownMethod, id: 7 },
  { title: "an empty method", body: { ...call, method: "" }, code: unknownMethod, id: 7 },
  { title: "__proto__ for a method", body: { ...call, method: "__proto__" }, code: unknownMethod, id: 7 },
  { title: "constructor for a method", body: { ...call, method: "constructor" }, code: unknownMethod, id: 7 },
  {
    title: "a list for params",
    body: { ...call, params: [{}] },
    code: invalidParams,
    id: 7,
    field: "params",
  },
  { title: "a word for params", body: { ...call, params: "x" }, code: invalidParams, id: 7, field: "params" },
  {
    title: "0 for an id and unknown params",
    body: { ...call, id: 0, params: { pageSize: -1 } },
    code: invalidParams,
    id: 0,
    field: "pageSize",
  },
  {
    title: "a long id",
    body: { ...call, id: "i".repeat(5_000), method: "Nope" },
    code: unknownMethod,
    id: "i".repeat(5_000),
  },
  { title: "an empty id", body: { ...call, id: "", method: "Nope" }, code: unknownMethod, id: "" },
  { title: "null for an id", body: { ...call, id: null, method: "Nope" }, code: unknownMethod, id: null },
];

describe("a bad JSON-RPC envelope", () => {
  for (const { title, body, code, id, field } of rows) {
    it(`is refused: ${title}`, async () => {
      const text = typeof body === "string" ? body : JSON.stringify(body);
      const answer = await target.send(encodeBytes(jsonRpc, new TextEncoder().encode(text)));
      const { error, ...envelope } = JSON.parse(new TextDecoder().decode(answer.body));
      expect({ status: answer.status, envelope, code: error.code }).toEqual({
        status: 200,
        envelope: { jsonrpc: "2.0", id },
        code,
      });
      if (field !== undefined) {
        const reason =
          code === invalidParams ? [{ reason: "INVALID_PARAMS", domain: "a2a-protocol.org" }] : [];
        const detail = { "@type": "type.googleapis.com/google.rpc.BadRequest", fieldViolations: [{ field }] };
        expect(error.data).toMatchObject([...reason, detail]);
      }
      await target.answersGoodCall(jsonRpc);
    });
  }

  it("is none with a __proto__ member, which is ignored like any unknown one (H-6)", async () => {
    const text = '{"__proto__":{"polluted":true},"jsonrpc":"2.0","id":7,"method":"ListTasks"}';
    const answer = await target.send(encodeBytes(jsonRpc, new TextEncoder().encode(text)));
    expect(JSON.parse(new TextDecoder().decode(answer.body))).toHaveProperty("result.tasks");
    expect("polluted" in {}).toBe(false);
  });
});
