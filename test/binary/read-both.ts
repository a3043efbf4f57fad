import { DecodeError, decodeInSteps, decodeMessage } from "@a2a-connect/core/internal";
import { type DescMessage, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { expect } from "vitest";

const unlimited = { recursionLimit: Number.POSITIVE_INFINITY };

/** What protobuf-es takes: it reads wrong types as if they were right, and beyond the message that a field is in. */
export const refusedByUsAlone: RegExp =
  /^refused: (.* has the wrong wire type|a field reaches beyond the message that it is in|a number has no end|.* cannot be read: premature EOF)$/;

/** What both decoders make of the same bytes, written again by protobuf-es. */
export function readBoth(desc: DescMessage, bytes: Uint8Array): { ours: string; theirs: string } {
  const written = (read: () => Message) => {
    let message: Message;
    try {
      message = read();
    } catch (error) {
      return error instanceof DecodeError ? `refused: ${error.message}` : "refused";
    }
    return hex(toBinary(desc, message));
  };
  const ours = written(() => decodeMessage(desc, bytes));
  for (const sliceBytes of [1, 13]) {
    const inSteps = written(() => finish(decodeInSteps(desc, bytes, {}, sliceBytes)));
    if (ours.startsWith("refused")) expect(inSteps).toMatch(/^refused: /);
    else expect(inSteps).toBe(ours);
  }
  return { ours, theirs: written(() => fromBinary(desc, bytes, unlimited)) };
}

export function finish<Result>(steps: Generator<number, Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

export function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}
