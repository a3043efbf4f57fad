import type { EndReason } from "@a2a-connect/core";
import type { Part } from "@a2a-connect/proto";
import type { JsonValue } from "@bufbuild/protobuf";
import type { Value } from "@bufbuild/protobuf/wkt";
import type { UnusedResults } from "../agent/task-tools.ts";

/**
 * An executor does what no executor may. The engine throws this at the `yield` where there is one; it ends the task when
 * the executor does not catch it. Its message is about the agent's own output and may be shown to callers.
 */
export class AgentMistake extends Error {
  readonly reason: EndReason;

  constructor(message: string, reason: EndReason = "invalid-agent-response") {
    super(message);
    this.name = "AgentMistake";
    this.reason = reason;
  }
}

/** Whether what plain JavaScript may have yielded is an event that a tool of the executor has made. */
export function isEvent(yielded: unknown, kinds: readonly string[]): boolean {
  return isObject(yielded) && "kind" in yielded && kinds.some((kind) => kind === yielded.kind);
}

/** @throws AgentMistake for a value that is no such event */
export function assertEvent(yielded: unknown, kinds: readonly string[]): void {
  if (!isEvent(yielded, kinds)) {
    throw new AgentMistake(
      `the executor yielded ${describe(yielded)}, which is no event; ${howToYield(yielded)}`,
    );
  }
}

/** What is wrong at the end of an executor that has not failed: a result that it left unused, or a value that it returned. */
export function findLastMistake(unused: UnusedResults, returned: unknown): AgentMistake | undefined {
  const oldest = unused.find();
  if (oldest !== undefined) {
    const mistake = new AgentMistake(oldest.sentence);
    // Not where the engine has found it: that would mislead.
    mistake.stack = [
      `${mistake.name}: ${mistake.message}`,
      ...(oldest.stack?.split("\n").slice(1) ?? []),
    ].join("\n");
    return mistake;
  }
  return returned === undefined
    ? undefined
    : new AgentMistake(
        `the executor returned ${describe(returned)}, and a returned value is lost; yield an event with it before`,
      );
}

function howToYield(yielded: unknown): string {
  if (isObject(yielded) && Symbol.asyncIterator in yielded) {
    return 'write "yield*" to pass on the events of another generator, such as ask(…)';
  }
  return "yield what the executor's tools return, such as artifact({ text: … })";
}

function describe(value: unknown): string {
  if (value === null || value === undefined) {
    return String(value);
  }
  if (isObject(value)) {
    return Array.isArray(value) ? "an array" : "then" in value ? "a promise" : "an object";
  }
  return `a ${typeof value}`;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/**
 * Refuses values that protobuf can hold and JSON cannot, so that the JSON wires can show every stored event.
 *
 * @throws AgentMistake with the path of a number that is NaN or infinite
 */
export function assertJsonParts(parts: readonly Part[], what: string): void {
  for (const { content, metadata } of parts) {
    if (content.case === "data" && !isJsonMessage(content.value)) {
      throw notJson(what);
    }
    assertJsonMetadata(metadata, what);
  }
}

/** The same for metadata, and for a status's report. */
export function assertJsonMetadata(metadata: object | undefined, what: string): void {
  if (metadata !== undefined && !isJson(metadata as JsonValue)) {
    throw notJson(what);
  }
}

function notJson(what: string): AgentMistake {
  return new AgentMistake(`${what} has a number that JSON cannot hold: NaN or infinite`);
}

function isJsonMessage({ kind }: Value): boolean {
  switch (kind.case) {
    case "numberValue":
      return Number.isFinite(kind.value);
    case "structValue":
      return isEachJson(kind.value.fields);
    case "listValue":
      return kind.value.values.every(isJsonMessage);
    default:
      return kind.case !== undefined;
  }
}

/** There may be very many keys, so no list of them is made. */
function isEachJson(fields: Readonly<Record<string, Value>>): boolean {
  for (const key in fields) {
    if (!isJsonMessage(fields[key] as Value)) return false; // a member of a plain object
  }
  return true;
}

function isJson(value: JsonValue): boolean {
  if (typeof value === "number") {
    return Number.isFinite(value);
  }
  if (typeof value !== "object" || value === null) {
    return true;
  }
  return (Array.isArray(value) ? value : Object.values(value)).every(isJson);
}
