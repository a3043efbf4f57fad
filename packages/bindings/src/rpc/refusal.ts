import { invalidParams } from "@a2a-connect/core";
import type { ConnectError } from "@connectrpc/connect";
import type { BodyRefusal } from "../body.ts";

/**
 * The bytes of a body. @throws ConnectError why the body was refused, because these wires have no HTTP status for it
 */
export function unlessRefused<T extends object>(result: T): Exclude<T, BodyRefusal> {
  if ("error" in result) {
    throw result.error;
  }
  return result as Exclude<T, BodyRefusal>; // which all have an error, and nothing else has
}

/** InvalidArgument for a request that is not one message of its type. */
export function malformedRequest(problem: string): ConnectError {
  return invalidParams({ field: "", description: `the request ${problem}` });
}
