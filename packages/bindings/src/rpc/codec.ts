import { invalidParams } from "@a2a-connect/core";
import {
  DecodeError,
  decodeInSteps,
  decodeMessage,
  encodeInSteps,
  encodeMessage,
  formatAnswer,
  formatOnce,
  isLarge,
  parseMessage,
  tooManyValues,
} from "@a2a-connect/core/internal";
import type { DescMessage, Message } from "@bufbuild/protobuf";
import { malformedRequest, unlessRefused } from "../body.ts";
import { parseJsonBytes } from "../json/json-body.ts";
import { encodeInTurns, encodeTexts, runInTurns } from "../large-answer.ts";
import type { Codec } from "./protocol.ts";

/** Bytes of protobuf that one slice decodes. */
const largeBytes = 64 * 1024;

/** Protobuf's own encoding. */
export const protoCodec: Codec = {
  name: "proto",
  decode(desc, bytes, { maxJsonDepth, maxValues }, caller) {
    const options = {
      maxDepth: binaryDepth(maxJsonDepth),
      maxValues,
      unknownFields: "drop",
    } as const;
    const refuse = (error: unknown): never => {
      if (error instanceof DecodeError && error.reason === "too-many-values") {
        throw invalidParams(tooManyValues(maxValues));
      }
      throw malformedRequest(`is not a valid ${desc.name} in protobuf encoding`);
    };
    if (bytes.length > largeBytes) {
      return runInTurns<Message>(decodeInSteps(desc, bytes, options), caller, "body").catch(refuse);
    }
    try {
      return decodeMessage(desc, bytes, options);
    } catch (error) {
      return refuse(error);
    }
  },
  encodeResponse: ({ bound }, _request, response, caller) =>
    encodeBinary(bound.desc.output, response, caller),
  encodeEvent: encodeBinary,
};

/** ProtoJSON by the rules of all wires (requirements H). */
export const jsonCodec: Codec = {
  name: "json",
  decode: async (desc, bytes, limits, caller) =>
    parseMessage(desc, unlessRefused(await parseJsonBytes(bytes, limits, caller)).json, {
      maxDepth: limits.maxJsonDepth,
    }),
  encodeResponse({ method }, request, response) {
    const text = formatAnswer(method, request, response);
    return typeof text === "string" ? text : encodeTexts(text);
  },
  encodeEvent(desc, event, caller) {
    const text = formatOnce(desc, event);
    return typeof text === "string" ? encoder.encode(text) : encodeInTurns(text, caller);
  },
};

function encodeBinary(
  desc: DescMessage,
  message: Message,
  caller: string | undefined,
): Uint8Array | Promise<readonly Uint8Array[]> {
  return isLarge(message) ? runInTurns(encodeInSteps(desc, message), caller) : encodeMessage(desc, message);
}

const encoder = new TextEncoder();

/** A level of JSON in a Struct is up to three nested messages: Value, Struct and the entry of its map. */
function binaryDepth(maxJsonDepth: number): number {
  return 3 * maxJsonDepth;
}
