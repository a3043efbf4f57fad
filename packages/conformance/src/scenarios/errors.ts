import { formatCode } from "@a2a-connect/bindings/client";
import { findA2AError, findFieldViolations } from "@a2a-connect/core";
import { Role } from "@a2a-connect/proto";
import { ErrorInfoSchema } from "@a2a-connect/proto/google/rpc/error_details";
import { Code } from "@connectrpc/connect";
import { expectCode, expectFields, failureOf, newId, showCode, toRequest } from "../calls.ts";
import { expect } from "../expect.ts";
import { helloPart } from "../hello.ts";
import { wires } from "../platform.ts";
import { callRest, callRpc, capture, clientOfPeer } from "../raw-calls.ts";
import { jsonWires, type ScenarioGroup, scenarios } from "../scenario.ts";
import type { ServerName } from "../server-name.ts";
import type { A2AClient } from "../target.ts";
import type { Names } from "./error-table.ts";

/** One condition, and what it is called on each wire: the table of the specification, by hand (spec §5.4). */
interface Condition extends Names {
  readonly name: string;
  /** Reason in ErrorInfo; undefined for errors that the protocol has no name for. */
  readonly reason: string | undefined;
  /** Of that reason. Default: that of A2A. */
  readonly domain?: string;
  readonly server?: ServerName;
  /** Makes it happen. */
  readonly provoke: (client: A2AClient) => Promise<unknown>;
}

const failed = Code.FailedPrecondition;

const a2aDomain = "a2a-protocol.org";

/** Those that no other agent shows, and one of each other code for all that is only ours: `error-table.ts` has the others. */
const conditions: readonly Condition[] = [
  {
    name: "an unknown task",
    ...{ reason: "TASK_NOT_FOUND", jsonRpcCode: -32001, grpcCode: Code.NotFound, httpStatus: 404 },
    provoke: (client) => client.getTask({ id: newId() }),
  },
  {
    name: "an agent that gives out something wrong",
    ...{ reason: "INVALID_AGENT_RESPONSE", jsonRpcCode: -32006, grpcCode: Code.Internal, httpStatus: 500 },
    provoke: (client) => client.sendMessage(toRequest("wrong")),
  },
  {
    name: "an extended card that is not there",
    ...{ reason: "EXTENDED_AGENT_CARD_NOT_CONFIGURED", jsonRpcCode: -32007 },
    ...{ grpcCode: failed, httpStatus: 400 },
    server: "no-card",
    provoke: (client) => client.getExtendedAgentCard({}),
  },
  {
    name: "a request without its required fields",
    ...{ reason: "INVALID_PARAMS", jsonRpcCode: -32602, grpcCode: Code.InvalidArgument, httpStatus: 400 },
    provoke: (client) => client.sendMessage({}),
  },
  {
    name: "an agent that throws before there is a task",
    ...{ reason: undefined, jsonRpcCode: -32603, grpcCode: Code.Internal, httpStatus: 500 },
    provoke: (client) => client.sendMessage(toRequest("throw-now")),
  },
  {
    name: "no credentials where they are needed",
    ...{ reason: "UNAUTHENTICATED", domain: "a2a-connect" },
    ...{ jsonRpcCode: -32055, grpcCode: Code.Unauthenticated, httpStatus: 401 },
    server: "identity",
    provoke: (client) => client.getExtendedAgentCard({}),
  },
];

/** E */
export const errors: ScenarioGroup = scenarios("E Errors", ({ verifies, anyAgent }) => {
  for (const condition of conditions) {
    const { name, reason, jsonRpcCode, grpcCode, httpStatus, provoke } = condition;
    const { domain = a2aDomain, server = "full" } = condition;
    verifies.where({ server, places: wires })(
      "E-1 E-2 E-5 E-7 J-6",
      `calls ${name} ${reason ?? Code[grpcCode]}`,
      async (stage) => {
        const error = await expectCode(provoke(stage.client), grpcCode);
        expect(error.rawMessage).toMatch(/\w/);
        expect(error.message).not.toContain("on purpose");
        const infos = error.findDetails(ErrorInfoSchema);
        expect(infos.map((info) => [info.reason, info.domain])).toStrictEqual(
          reason === undefined ? [] : [[reason, domain]],
        );
        for (const value of infos.flatMap(({ metadata }) => Object.values(metadata))) {
          expect(value).toBeTypeOf("string");
        }
      },
    );

    verifies.where({ server, places: ["jsonrpc"] })(
      "E-1 E-2 E-7 I-2 I-10 I-13",
      `calls ${name} ${jsonRpcCode} in a JSON-RPC answer`,
      async (stage) => {
        const { status, header, json } = await capture(stage, provoke);
        expect(status).toBe(httpStatus === 401 ? 401 : 200);
        expect(header.get("content-type")).toMatch(/^application\/json/);
        expect(Object.keys(json).toSorted()).toStrictEqual(["error", "id", "jsonrpc"]);
        const { code, message, data, ...more } = json.error;
        expect(more).toStrictEqual({});
        expect(code).toBe(jsonRpcCode);
        expect(message).toMatch(/\w/);
        expectDetails(data ?? [], reason, domain);
      },
    );

    verifies.where({ server, places: ["http-json"] })(
      "E-1 E-2 E-7 E-8 K-7",
      `answers ${name} with HTTP status ${httpStatus}`,
      async (stage) => {
        const { status, header, json } = await capture(stage, provoke);
        expect(status).toBe(httpStatus);
        expect(header.get("content-type")).toMatch(/^application\/(a2a\+)?json/);
        expect(Object.keys(json)).toStrictEqual(["error"]);
        const { code, status: name_, message, details } = json.error;
        expect(code).toBe(httpStatus);
        expect(name_).toBe(formatCode(grpcCode));
        expect(message).toMatch(/\w/);
        expectDetails(details ?? [], reason, domain);
      },
    );
  }

  verifies.where({ places: ["grpc-web", "connect"] })(
    "E-7",
    "does not know an operation that does not exist",
    async ({ target, wire }) => {
      const path = "/lf.a2a.v1.A2AService/NoSuchMethod";
      const headers = { "content-type": `application/${wire === "connect" ? "" : "grpc-web+"}proto` };
      const post = { method: "POST", headers, body: new Uint8Array(5) };
      const response = await target.fetchOn(wire, path, post);
      if (wire === "connect") expect((await response.json()).code).toBe("unimplemented");
      else expect(showCode(response.headers.get("grpc-status"))).toBe(showCode(Code.Unimplemented));
    },
  );

  anyAgent.where({ places: jsonWires })(
    "E-7 I-13",
    "has the number for an operation that does not exist",
    async ({ target, wire }) => {
      const found =
        wire === "jsonrpc"
          ? (await callRpc(target, "NoSuchMethod", {})).error?.code
          : (await callRest(target, "POST", "/no:such", {})).status;
      expect(found).toBe(wire === "jsonrpc" ? -32601 : 404);
    },
  );

  anyAgent("E-3", "names the fields that a send lacks, by their camelCase path", async (stage) => {
    const nameless = { role: Role.USER, parts: [helloPart(stage)] };
    for (const [request, lacking] of [
      [{}, /^message$/],
      [{ message: nameless }, /^message\.messageId$/],
    ] as const) {
      const violations = findFieldViolations(await failureOf(stage.client.sendMessage(request)));
      const fields = violations.map(({ field }) => field);
      expect(fields).toStrictEqual(expect.arrayContaining([expect.stringMatching(lacking)]));
    }
  });

  verifies("E-3", "names wrong fields by their camelCase path", async ({ client }) => {
    const bad = toRequest("task no", { configuration: { historyLength: -1 } });
    const error = await expectFields(client.sendMessage(bad), "configuration.historyLength");
    expect(findFieldViolations(error)[0]?.description).toMatch(/\w/);
  });

  verifies.where({ places: jsonWires })(
    "E-3",
    "has a BadRequest with fieldViolations, beside the reason that the SDKs look for",
    async (stage) => {
      const { error } = await capture(stage, (client) => client.sendMessage({}));
      expect(error.data ?? error.details).toMatchObject([
        {
          "@type": "type.googleapis.com/google.rpc.ErrorInfo",
          reason: "INVALID_PARAMS",
          domain: "a2a-protocol.org",
        },
        {
          "@type": "type.googleapis.com/google.rpc.BadRequest",
          fieldViolations: [{ field: "message", description: expect.stringMatching(/\w/) }],
        },
      ]);
    },
  );

  verifies("E-4", "is recognized by its reason when a peer has other numbers for it", async ({ wire }) => {
    const info = {
      "@type": "type.googleapis.com/google.rpc.ErrorInfo",
      reason: "TASK_NOT_CANCELABLE",
      domain: "a2a-protocol.org",
    };
    // What version 1.0.0 of the specification said: HTTP 409.
    const body =
      wire === "jsonrpc"
        ? { jsonrpc: "2.0", id: 1, error: { code: -32603, message: "no", data: [info] } }
        : { error: { code: 409, status: "ABORTED", message: "no", details: [info] } };
    const status = wire === "jsonrpc" ? 200 : 409;
    const fetch = async () => Response.json(body, { status });
    const error = await failureOf(clientOfPeer(wire, fetch).cancelTask({ id: "t" }));
    expect(findA2AError(error)?.reason).toBe("TASK_NOT_CANCELABLE");
  });

  verifies("E-5", "says which task in the metadata", async ({ client }) => {
    const id = newId();
    const error = await failureOf(client.getTask({ id }));
    expect(findA2AError(error)?.metadata).toStrictEqual({ taskId: id });
  });
});

function expectDetails(
  details: readonly Record<string, unknown>[],
  reason: string | undefined,
  domain = a2aDomain,
): void {
  for (const detail of details) {
    expect(detail["@type"]).toMatch(/^type\.googleapis\.com\/google\.rpc\.\w+$/);
  }
  const infos = details.filter((detail) => detail["@type"] === "type.googleapis.com/google.rpc.ErrorInfo");
  expect(infos.map((info) => [info["reason"], info["domain"]])).toStrictEqual(
    reason === undefined ? [] : [[reason, domain]],
  );
}
