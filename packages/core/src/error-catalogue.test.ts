import { Code } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import {
  type A2AErrorReason,
  errorCatalogue,
  findErrorEntry,
  findReasonByJsonRpcCode,
  genericErrors,
  isA2AErrorReason,
} from "./error-catalogue.ts";

/** Requirements E.1, the numbers of 1.0.1; the last two columns are HTTP status and domain. */
const wanted: readonly (readonly [A2AErrorReason, number, Code, number, string])[] = [
  ["TASK_NOT_FOUND", -32001, Code.NotFound, 404, "a2a-protocol.org"],
  ["TASK_NOT_CANCELABLE", -32002, Code.FailedPrecondition, 400, "a2a-protocol.org"],
  ["PUSH_NOTIFICATION_NOT_SUPPORTED", -32003, Code.FailedPrecondition, 400, "a2a-protocol.org"],
  ["UNSUPPORTED_OPERATION", -32004, Code.FailedPrecondition, 400, "a2a-protocol.org"],
  ["CONTENT_TYPE_NOT_SUPPORTED", -32005, Code.InvalidArgument, 400, "a2a-protocol.org"],
  ["INVALID_AGENT_RESPONSE", -32006, Code.Internal, 500, "a2a-protocol.org"],
  ["EXTENDED_AGENT_CARD_NOT_CONFIGURED", -32007, Code.FailedPrecondition, 400, "a2a-protocol.org"],
  ["EXTENSION_SUPPORT_REQUIRED", -32008, Code.FailedPrecondition, 400, "a2a-protocol.org"],
  ["VERSION_NOT_SUPPORTED", -32009, Code.FailedPrecondition, 400, "a2a-protocol.org"],
  ["INVALID_PARAMS", -32602, Code.InvalidArgument, 400, "a2a-protocol.org"],
  ["TASK_GENERATION_MISMATCH", -32010, Code.Aborted, 409, "a2a-protocol.org"],
  ["IDEMPOTENCY_CONFLICT", -32050, Code.FailedPrecondition, 409, "a2a-connect"],
  ["BODY_TOO_LARGE", -32051, Code.ResourceExhausted, 413, "a2a-connect"],
  ["CAPACITY", -32052, Code.ResourceExhausted, 429, "a2a-connect"],
  ["TASK_TOO_LARGE", -32053, Code.ResourceExhausted, 413, "a2a-connect"],
  ["DATA_LOSS", -32054, Code.DataLoss, 500, "a2a-connect"],
  ["UNAVAILABLE", -32603, Code.Unavailable, 503, "a2a-connect"],
  ["UNAUTHENTICATED", -32055, Code.Unauthenticated, 401, "a2a-connect"],
  ["PERMISSION_DENIED", -32056, Code.PermissionDenied, 403, "a2a-connect"],
  ["RATE_LIMITED", -32057, Code.ResourceExhausted, 429, "a2a-connect"],
];

describe("the error catalogue (E-1 to E-4)", () => {
  it("has exactly these reasons", () => {
    expect(Object.keys(errorCatalogue).sort()).toEqual(wanted.map(([reason]) => reason).sort());
  });

  for (const [reason, jsonRpcCode, code, httpStatus, domain] of wanted) {
    it(`calls ${reason} ${jsonRpcCode}, ${Code[code]} and ${httpStatus}`, () => {
      expect(errorCatalogue[reason]).toEqual({ domain, code, jsonRpcCode, httpStatus });
      expect(findErrorEntry(reason)).toBe(errorCatalogue[reason]);
      // -32603 alone says nothing; its details do.
      expect(findReasonByJsonRpcCode(jsonRpcCode)).toBe(reason === "UNAVAILABLE" ? undefined : reason);
    });
  }

  it("does not know other reasons, nor the members of every object", () => {
    for (const reason of ["", "NOPE", "toString", "__proto__", "constructor", "task_not_found"]) {
      expect(isA2AErrorReason(reason)).toBe(false);
      expect(findErrorEntry(reason)).toBeUndefined();
    }
    expect(findReasonByJsonRpcCode(-32603)).toBeUndefined();
  });

  it("has a name on the JSON wires for every code", () => {
    const codes = Object.values(Code).filter((code): code is Code => typeof code === "number");
    expect(codes).toHaveLength(16);
    const { UNAUTHENTICATED, PERMISSION_DENIED } = errorCatalogue;
    const own = [UNAUTHENTICATED, PERMISSION_DENIED].map(({ jsonRpcCode }) => jsonRpcCode);
    for (const code of codes) {
      const { jsonRpcCode, httpStatus } = genericErrors[code];
      expect([-32603, -32602, -32601, ...own]).toContain(jsonRpcCode);
      expect(httpStatus).toBeGreaterThanOrEqual(400);
    }
  });
});
