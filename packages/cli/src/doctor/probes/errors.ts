import { protocolErrorDomain } from "@a2a-connect/core/internal";
import { ErrorInfoSchema } from "@a2a-connect/proto/google/rpc/error_details";
import { findingAt, type LiveInterface, type Probe } from "../examination.ts";
import { type Finding, quote } from "../finding.ts";
import type { Exchange } from "../interface-calls.ts";

/** Whether errors look as they should on their wire (requirements E). Reads what the first call brought. */
export const errorProbe: Probe = {
  id: "errors",
  async run({ live }) {
    return live.map((served) => findingAt(served, judge(served)));
  },
};

function judge(served: LiveInterface): Finding {
  const flaws = flawsOf(served);
  const id = "errors.form";
  return flaws.length === 0
    ? { id, severity: "ok", what: "Errors are well formed, and say their name." }
    : {
        id,
        severity: "warning",
        what: "Errors are not formed as the wire demands: clients may not recognise them.",
        evidence: quote(flaws.join("; ")),
        fix: "See spec §5.4 and the binding's section on errors.",
      };
}

function flawsOf({ calls, health: { error, exchange } }: LiveInterface): string[] {
  if (error === undefined) return [];
  switch (calls.interface.protocolBinding) {
    case "JSONRPC":
      return exchange === undefined ? [] : jsonRpcFlaws(exchange);
    case "HTTP+JSON":
      return exchange === undefined ? [] : httpJsonFlaws(exchange);
    default:
      return error.findDetails(ErrorInfoSchema).some(({ domain }) => domain === protocolErrorDomain)
        ? []
        : ["no google.rpc.ErrorInfo of the domain a2a-protocol.org among the details"];
  }
}

function jsonRpcFlaws({ status, contentType, body }: Exchange): string[] {
  const envelope = parseObject(body);
  const error = objectIn(envelope, "error");
  return [
    ...flaw(status !== 200, `HTTP ${status} instead of 200`),
    ...flaw(!/^application\/json\b/i.test(contentType), `content-type ${contentType || "none"}`),
    ...flaw(envelope?.["jsonrpc"] !== "2.0", 'no "jsonrpc": "2.0"'),
    ...flaw(envelope === undefined || !("id" in envelope), "no id"),
    ...flaw(error === undefined, "no error object"),
    ...flaw(
      error !== undefined && error["code"] !== -32001,
      `code ${String(error?.["code"])} instead of -32001`,
    ),
    ...flaw(error !== undefined && !hasErrorInfo(error["data"]), "no google.rpc.ErrorInfo in error.data"),
  ];
}

function httpJsonFlaws({ status, contentType, body }: Exchange): string[] {
  const error = objectIn(parseObject(body), "error");
  return [
    ...flaw(status !== 404, `HTTP ${status} instead of 404`),
    ...flaw(!/^application\/(a2a\+)?json\b/i.test(contentType), `content-type ${contentType || "none"}`),
    ...flaw(error === undefined, "no error object"),
    ...flaw(
      error !== undefined && error["code"] !== status,
      `error.code ${String(error?.["code"])} beside HTTP ${status}`,
    ),
    ...flaw(
      error !== undefined && error["status"] !== "NOT_FOUND",
      `error.status ${String(error?.["status"])} instead of NOT_FOUND`,
    ),
    ...flaw(
      error !== undefined && !hasErrorInfo(error["details"]),
      "no google.rpc.ErrorInfo in error.details",
    ),
  ];
}

function hasErrorInfo(details: unknown): boolean {
  return (
    Array.isArray(details) &&
    details.some(
      (detail: unknown) =>
        isObject(detail) &&
        detail["@type"] === "type.googleapis.com/google.rpc.ErrorInfo" &&
        detail["reason"] === "TASK_NOT_FOUND" &&
        detail["domain"] === protocolErrorDomain,
    )
  );
}

function flaw(isFlawed: boolean, sentence: string): string[] {
  return isFlawed ? [sentence] : [];
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function objectIn(
  parent: Record<string, unknown> | undefined,
  name: string,
): Record<string, unknown> | undefined {
  const value = parent?.[name];
  return isObject(value) ? value : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
