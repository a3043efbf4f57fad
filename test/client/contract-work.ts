import type { JsonObject } from "@bufbuild/protobuf";

/**
 * What the contract's agents do, by the first word of a message. Ours and that of `@a2a-js/sdk` do the same, so that one
 * suite fits both.
 */
export const commands = {
  /** A direct Message: what follows the word. */
  echo: "echo",
  /** WORKING, three artifacts (text in chunks, data, bytes), COMPLETED with a message. */
  work: "work",
  /** Asks twice, then gives both answers as an artifact. */
  ask: "ask",
  /** AUTH_REQUIRED, then an artifact. */
  auth: "auth",
  /** FAILED, with the second word as its reason. */
  fail: "fail",
  /** REJECTED, with the second word as its reason. */
  reject: "reject",
  /** WORKING until it is canceled. */
  wait: "wait",
} as const;

/** What the task of `work` comes to. */
export const product: {
  readonly chunks: readonly string[];
  readonly table: JsonObject;
  readonly picture: Uint8Array;
  readonly closing: string;
} = {
  chunks: ["Es war ", "einmal ", "🌍 ein Wort."],
  table: { rows: [1, 2.5, null], kéy: { nested: true } },
  picture: Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 255),
  closing: "done",
};

/** What the task of `ask` asks, in order. */
export const questions: readonly [string, string] = ["Your name?", "Your colour?"];

/** What both cards say. */
export const cardTexts = {
  name: "Contract agent",
  description: "Does what the contract of the client wants done.",
  version: "1.4.2",
  inputModes: ["text/plain", "application/json", "image/png"],
  outputModes: ["text/plain", "application/json", "image/png"],
  skills: [
    { id: "talk", name: "Talk", description: "Takes words, and nothing else.", inputModes: ["text/plain"] },
    { id: "look", name: "Look", description: "Takes pictures.", inputModes: ["image/png"] },
  ],
} as const;

/** What only callers see who have said who they are. */
export const extendedDescription = "For friends.";
