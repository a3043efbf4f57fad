import { BadRequestSchema, ErrorInfoSchema } from "@a2a-connect/proto/google/rpc/error_details";
import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { formatErrorDetails, parseErrorDetails } from "./error-details.ts";
import {
  a2aError,
  bodyTooLarge,
  findA2AError,
  findFieldViolations,
  invalidParams,
  toConnectError,
  wireCodes,
} from "./errors.ts";

describe("a2aError", () => {
  it("has the catalogue's code and an ErrorInfo (E-2, E-5)", () => {
    const error = a2aError("TASK_NOT_FOUND", "there is no such task", { taskId: "t" });
    expect(error).toMatchObject({ code: Code.NotFound, rawMessage: "there is no such task" });
    expect(error.findDetails(ErrorInfoSchema)).toMatchObject([
      { reason: "TASK_NOT_FOUND", domain: "a2a-protocol.org", metadata: { taskId: "t" } },
    ]);
    expect(findA2AError(error)).toMatchObject({ reason: "TASK_NOT_FOUND", metadata: { taskId: "t" } });
    expect(wireCodes(error)).toMatchObject({ jsonRpcCode: -32001, httpStatus: 404 });
  });

  it("has our own domain for our own reasons", () => {
    expect(bodyTooLarge(5).findDetails(ErrorInfoSchema)).toMatchObject([
      { reason: "BODY_TOO_LARGE", domain: "a2a-connect", metadata: { maxBytes: "5" } },
    ]);
  });
});

describe("findA2AError (E-4)", () => {
  const withInfo = (reason: string, domain: string) =>
    new ConnectError("x", Code.Unknown, undefined, [{ desc: ErrorInfoSchema, value: { reason, domain } }]);

  it("knows a reason by its domain only", () => {
    expect(findA2AError(withInfo("TASK_NOT_FOUND", "a2a-protocol.org"))?.reason).toBe("TASK_NOT_FOUND");
    expect(findA2AError(withInfo("TASK_NOT_FOUND", "example.org"))).toBeUndefined();
    expect(findA2AError(withInfo("NOPE", "a2a-protocol.org"))).toBeUndefined();
  });

  for (const [what, thrown] of [
    ["an error without details", new ConnectError("x", Code.Internal)],
    ["an error of another kind", new Error("x")],
    ["no error at all", "x"],
  ] as const) {
    it(`finds none in ${what}`, () => expect(findA2AError(thrown)).toBeUndefined());
  }
});

describe("invalidParams (E-3)", () => {
  it("names one field or several", () => {
    const one = { field: "message", description: "is required" };
    const other = { field: "message.parts[0]", description: "has no content" };
    expect(invalidParams(one)).toMatchObject({
      code: Code.InvalidArgument,
      rawMessage: "message: is required",
    });
    const both = invalidParams([one, other]);
    expect(both.rawMessage).toBe("message: is required; message.parts[0]: has no content");
    expect(findFieldViolations(both)).toMatchObject([one, other]);
    expect(findA2AError(both)?.reason).toBe("INVALID_PARAMS");
    expect(wireCodes(both)).toMatchObject({ jsonRpcCode: -32602, httpStatus: 400 });
    expect(findFieldViolations(new Error("x"))).toEqual([]);
  });

  it("says a sentence of its own when no field is meant", () => {
    expect(invalidParams({ field: "", description: "the body is no JSON" }).rawMessage).toBe(
      "the body is no JSON",
    );
  });
});

describe("error details in JSON (E-1)", () => {
  it("are read as they were written", () => {
    const error = new ConnectError("x", Code.InvalidArgument);
    error.details = [
      ...a2aError("CAPACITY", "x", { k: "v" }).details,
      ...invalidParams({ field: "f", description: "d" }).details.slice(1), // its own ErrorInfo left out
    ];
    const json = formatErrorDetails(error);
    expect(json).toEqual([
      {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        reason: "CAPACITY",
        domain: "a2a-connect",
        metadata: { k: "v" },
      },
      {
        "@type": "type.googleapis.com/google.rpc.BadRequest",
        fieldViolations: [{ field: "f", description: "d" }],
      },
    ]);
    const read = new ConnectError("x", Code.InvalidArgument);
    read.details = parseErrorDetails(JSON.parse(JSON.stringify(json)));
    expect(findA2AError(read)).toMatchObject({ reason: "CAPACITY", metadata: { k: "v" } });
    expect(read.findDetails(BadRequestSchema)).toHaveLength(1);
  });

  it("leave out what is unknown or malformed", () => {
    const type = "type.googleapis.com/google.rpc.ErrorInfo";
    for (const details of [
      undefined,
      null,
      "text",
      {},
      [null, 1, "x", [], {}],
      [{ "@type": "type.googleapis.com/other.Type" }],
      [{ "@type": 1 }],
      [{ "@type": type, reason: 5 }],
      [{ "@type": type, metadata: [] }],
    ]) {
      expect(parseErrorDetails(details)).toEqual([]);
    }
    expect(parseErrorDetails([{ "@type": type, reason: "CAPACITY", newer: 1 }])).toHaveLength(1);
  });
});

describe("toConnectError", () => {
  it("leaves a ConnectError as it is", () => {
    const error = new ConnectError("x", Code.Aborted);
    expect(toConnectError(error)).toBe(error);
  });

  it("takes an abort for Canceled", () => {
    expect(toConnectError(new DOMException("secret", "AbortError"))).toMatchObject({ code: Code.Canceled });
  });

  for (const thrown of [new Error("secret"), new TypeError("secret"), "secret", { secret: 1 }, undefined]) {
    it(`hides ${String(thrown)} and keeps it for the log (E.1)`, () => {
      const error = toConnectError(thrown);
      expect(error).toMatchObject({ code: Code.Internal, rawMessage: "Internal error" });
      expect(error.cause).toBe(thrown);
      expect(formatErrorDetails(error)).toEqual([]);
    });
  }
});
