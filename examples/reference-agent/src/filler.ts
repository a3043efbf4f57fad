import type { CommonEvent, CommonTools } from "./command.ts";

const chunkBytes = 1_000;

/** `head` repeated up to `length` characters. */
export function filler(head: string, length: number): string {
  return head.repeat(Math.ceil(length / head.length)).slice(0, length) || " ";
}

/** So many chunks of 1 KB of one artifact. */
export function* chunks(tools: CommonTools, count: number): Generator<CommonEvent> {
  for (let index = 1; index <= count; index++) {
    yield tools.append("stream", filler(`chunk ${index} `, chunkBytes));
  }
}
