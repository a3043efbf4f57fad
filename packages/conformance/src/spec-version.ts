import { Code } from "@connectrpc/connect";

/** The two published texts of A2A 1.0. They have the same messages, and differ in error numbers and in one media type. */
export const specVersions = ["1.0.0", "1.0.1"] as const;

/** One of them. */
export type SpecVersion = (typeof specVersions)[number];

/** What an error is called on the wires whose number depends on the text (§5.4). */
export interface ErrorNumbers {
  readonly grpcCode: Code;
  readonly httpStatus: number;
}

/** What 1.0.0 says, by reason, where 1.0.1 says something else. Both agree about all other errors. */
const olderNumbers: Readonly<Record<string, Partial<ErrorNumbers>>> = {
  TASK_NOT_CANCELABLE: { httpStatus: 409 },
  PUSH_NOTIFICATION_NOT_SUPPORTED: { grpcCode: Code.Unimplemented },
  UNSUPPORTED_OPERATION: { grpcCode: Code.Unimplemented },
  CONTENT_TYPE_NOT_SUPPORTED: { httpStatus: 415 },
  INVALID_AGENT_RESPONSE: { httpStatus: 502 },
  VERSION_NOT_SUPPORTED: { grpcCode: Code.Unimplemented },
};

/** The numbers of an error, given those of 1.0.1. @param reason of the error; undefined for one without */
export function numbersOf(
  reason: string | undefined,
  numbers: ErrorNumbers,
  spec: SpecVersion,
): ErrorNumbers {
  return { ...numbers, ...(spec === "1.0.0" && reason !== undefined ? olderNumbers[reason] : {}) };
}
