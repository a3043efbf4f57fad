import { type ServedAgent, type ServeOptions, serve } from "@a2a-connect/node";
import { createReferenceAgent, profileOptions } from "@a2a-connect/reference-agent";
import { type AgentDefinition, createMemoryTaskStore, type LogRecord } from "@a2a-connect/server";
import { afterAll, beforeAll, expect } from "vitest";
import { connectHttpStatus, type ErrorName, type ErrorRow, errorTable } from "./error-table.ts";
import { createRawCaller, type RawAnswer, type RawCaller, type RawRequest } from "./raw-call.ts";
import { type Refusal, readRefusal } from "./refusal.ts";
import { type Call, encodeCall, type Wire, wires } from "./wires.ts";

/** A server that is there for one test file, and what all its tests look at. */
export interface Target {
  readonly url: string;
  readonly port: number;
  /** What the operator was told so far. */
  readonly log: readonly LogRecord[];
  /** Sends a request, and checks that neither its answer nor the operator's log says what is nobody's business. */
  send(request: RawRequest): Promise<RawAnswer>;
  /** Sends a call that must be refused with this error, and then a good one over the same wire. */
  refuses(wire: Wire, request: RawRequest, expected: Expected): Promise<Refusal>;
  /** Sends a good call, which must be answered as one. */
  answersGoodCall(wire?: Wire): Promise<void>;
}

/** The error that a row expects. */
export interface Expected {
  readonly error: ErrorName;
  /** A field that the BadRequest names, exactly or by how it begins. */
  readonly field?: string | RegExp;
}

/** The server's own options, without sockets and store. */
export type TargetOptions = Omit<ServeOptions, "port" | "store" | "log"> & {
  readonly agent?: AgentDefinition;
};

/** Serves the reference agent (or another) for all tests of a file. */
export function serveTarget({ agent, ...options }: TargetOptions = {}): Target {
  const log: LogRecord[] = [];
  let served: ServedAgent | undefined;
  let caller: RawCaller | undefined;
  /** How many records of the log were looked at. */
  let checked = 0;
  beforeAll(async () => {
    served = await serve(agent ?? createReferenceAgent("full"), {
      ...(agent === undefined ? profileOptions("full") : {}),
      ...options,
      store: createMemoryTaskStore(),
      log: (record) => log.push(record),
    });
    caller = createRawCaller(served.url);
  });
  afterAll(async () => {
    caller?.[Symbol.dispose]();
    await served?.close({ graceMs: 0, timeoutMs: 1_000 });
  });
  const running = () => {
    if (served === undefined || caller === undefined) throw new Error("the server is not up");
    return { served, caller };
  };

  const target: Target = {
    get url() {
      return running().served.url;
    },
    get port() {
      return running().served.port;
    },
    log,
    async send(request) {
      const answer = await running().caller.call(request);
      expectDiscreet(describeAnswer(answer));
      for (; checked < log.length; checked += 1) {
        expectDiscreet(JSON.stringify({ ...log[checked], error: undefined }));
      }
      expect(answer.fields.get("content-type")).not.toMatch(/html/);
      return answer;
    },
    async refuses(wire, request, expected) {
      const errors = log.length;
      const answer = await target.send(request);
      expect(readOutcome(wire, answer)).toEqual(outcomeOf(wire, errorTable[expected.error], answer));
      const refusal = readRefusal(wire.protocol, answer);
      if (expected.field !== undefined) expectField(refusal, expected.field);
      // What callers do wrong is no news for the operator.
      if (expected.error !== "internal") expect(log.slice(errors)).toEqual([]);
      await target.answersGoodCall(wire);
      return refusal;
    },
    async answersGoodCall(wire = firstWire) {
      const answer = await target.send(encodeCall(wire, goodCall));
      expect(findProblem(wire, answer)).toBeUndefined();
    },
  };
  return target;
}

const [firstWire] = wires as readonly [Wire, ...Wire[]];

const goodCall: Call = { method: "ListTasks", json: '{"pageSize":1}' };

/**
 * What no caller may see: stack traces, files of ours or of Node, the words that an executor threw. Field names such as
 * `message.parts[0].text` and quoted paths of a URL are fine.
 */
const indiscretions = [
  /\n\s+at /,
  /\bat [\w.<>]+ \(/,
  /node:internal/,
  /file:\/\//,
  /node_modules/,
  /\.[mc]?[tj]s:\d+/,
  /thrown on purpose/,
  /TypeError|RangeError|SyntaxError|ReferenceError/,
  /Unexpected token|Cannot read propert/,
];

const ourFolder = import.meta.dirname.replace(/\/test\/bad-input$/, "");

/** Fails when a text holds what only the operator's error objects may hold. */
export function expectDiscreet(text: string): void {
  // Thousands of answers, some of megabytes: `expect` sees only those that are wrong.
  const found = indiscretions.find((pattern) => pattern.test(text));
  if (found !== undefined) expect(text).not.toMatch(found);
  if (text.includes(ourFolder)) expect(text).not.toContain(ourFolder);
}

function describeAnswer({ fields, body, trailers }: RawAnswer): string {
  const header = [...fields, ...trailers].map(([name, value]) => `${name}: ${safeDecode(value)}`);
  return [...header, new TextDecoder().decode(body)].join("\n");
}

function safeDecode(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

interface Outcome {
  readonly http: number;
  readonly code: number;
  readonly reason: string | undefined;
}

function readOutcome({ protocol }: Wire, answer: RawAnswer): Outcome {
  const { http, code, reason } = readRefusal(protocol, answer);
  return { http, code, reason };
}

function outcomeOf({ protocol }: Wire, row: ErrorRow, { fields }: RawAnswer): Outcome {
  const { reason } = row;
  const jsonRpcReason = "jsonRpcReason" in row ? undefined : reason;
  switch (protocol) {
    case "jsonrpc":
      return { http: row.jsonRpcHttp ?? 200, code: row.jsonRpc, reason: jsonRpcReason };
    case "http-json":
      return { http: row.http, code: row.http, reason };
    case "connect": {
      const streaming = fields.get("content-type")?.startsWith("application/connect+") === true;
      return { http: streaming ? 200 : (connectHttpStatus[row.grpc] ?? 0), code: row.grpc, reason };
    }
    default:
      return { http: 200, code: row.grpc, reason };
  }
}

function expectField({ fields }: Refusal, wanted: string | RegExp): void {
  if (typeof wanted === "string") expect(fields).toContain(wanted);
  else expect(fields).toContainEqual(expect.stringMatching(wanted));
}

/** What keeps an answer from being a success; undefined when it is one. */
export function findProblem({ protocol }: Wire, answer: RawAnswer): string | undefined {
  const text = new TextDecoder().decode(answer.body);
  if (answer.status !== 200) return `HTTP ${answer.status}: ${text}`;
  switch (protocol) {
    case "jsonrpc":
      return "result" in JSON.parse(text) ? undefined : text;
    case "grpc":
      return grpcProblem(answer.trailers.get("grpc-status") ?? answer.fields.get("grpc-status"));
    case "grpc-web":
      return grpcProblem(/grpc-status:\s*(\d+)/.exec(text)?.[1] ?? answer.fields.get("grpc-status"));
    default:
      return undefined;
  }
}

function grpcProblem(status: string | null | undefined): string | undefined {
  return status === "0" ? undefined : `grpc-status ${status}`;
}
