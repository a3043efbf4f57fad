import type { EndReason } from "@a2a-connect/core";
import { file_lf_a2a_v1_a2a } from "@a2a-connect/proto";
import {
  createRegistry,
  fromBinary,
  isMessage,
  type Message,
  type Registry,
  toBinary,
} from "@bufbuild/protobuf";
import { DevalueError, parse, stringify } from "devalue";
import { JournalError } from "./journal-error.ts";

/**
 * What the journal knows of one operation of a durable executor. Later records of an operation replace earlier ones.
 *
 * `value` and `error` are results; `aborted` says that the operation was cut off by a cancel; `until` is when a sleep
 * ends; `attempts` have failed, and the next is not before `retryAt` (milliseconds since 1970).
 */
export type JournalRecord = { readonly op: string } & (
  | { readonly kind: "value"; readonly value: unknown }
  | { readonly kind: "error"; readonly name: string; readonly message: string }
  | { readonly kind: "mistake"; readonly message: string; readonly reason: EndReason }
  | { readonly kind: "aborted" }
  | { readonly kind: "sleep"; readonly until: number }
  | { readonly kind: "retry"; readonly attempts: number; readonly retryAt: number }
);

/** A journal's records as bytes: whatever `structuredClone` takes, and protobuf messages of known types. */
export interface JournalCodec {
  /** @throws JournalError saying where the value has something that cannot be stored */
  encode(record: JournalRecord): Uint8Array;
  decode(payload: Uint8Array): JournalRecord;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** @param registry the message types that steps may return besides those of A2A and the well-known ones */
export function createJournalCodec(registry: Registry = createRegistry()): JournalCodec {
  const types = createRegistry(registry, file_lf_a2a_v1_a2a, ...file_lf_a2a_v1_a2a.dependencies);
  const reducers = {
    Message: (value: unknown) => isMessage(value) && reduceMessage(types, value),
    Error: (value: unknown) => value instanceof Error && [value.name, value.message, value.cause],
  };
  const revivers = {
    Message: ([typeName, bytes]: [string, Uint8Array]) => reviveMessage(types, typeName, bytes),
    Error: ([name, message, cause]: [string, string, unknown]) => reviveError(name, message, cause),
  };
  return {
    encode(record) {
      try {
        return encoder.encode(stringify(record, reducers));
      } catch (error) {
        throw new JournalError(`what ${record.op} gave cannot be stored: ${explain(error)}`);
      }
    },
    decode: (payload) => parse(decoder.decode(payload), revivers) as JournalRecord, // only `encode` writes them
  };
}

/** An error out of the journal: its class is gone, its name and message are not. */
export function reviveError(name: string, message: string, cause?: unknown): Error {
  const error = new Error(message, cause === undefined ? undefined : { cause });
  error.name = name;
  return error;
}

function reduceMessage(types: Registry, message: Message): [string, Uint8Array] {
  const desc = types.getMessage(message.$typeName);
  if (desc === undefined) {
    throw new Error(`the message type ${message.$typeName} is not in the agent's "journalTypes"`);
  }
  return [message.$typeName, toBinary(desc, message)];
}

function reviveMessage(types: Registry, typeName: string, bytes: Uint8Array): Message {
  const desc = types.getMessage(typeName);
  if (desc === undefined) {
    throw new Error(`the message type ${typeName} is no longer in the agent's "journalTypes"`);
  }
  return fromBinary(desc, bytes);
}

function explain(error: unknown): string {
  if (error instanceof DevalueError) {
    return `${error.message}${error.path === "" ? "" : ` at ${error.path}`}`;
  }
  return error instanceof Error ? error.message : "it is not a value";
}
