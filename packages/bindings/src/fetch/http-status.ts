import { Code } from "@connectrpc/connect";

/** The code that a response without a readable error stands for: requirement E.1 read backwards. */
export function codeFromHttpStatus(status: number): Code {
  return codes.get(status) ?? (status >= 500 ? Code.Unavailable : Code.Unknown);
}

const codes: ReadonlyMap<number, Code> = new Map([
  [400, Code.InvalidArgument],
  [401, Code.Unauthenticated],
  [403, Code.PermissionDenied],
  [404, Code.NotFound],
  [405, Code.Unimplemented],
  [409, Code.Aborted],
  [413, Code.ResourceExhausted],
  [415, Code.InvalidArgument],
  [429, Code.ResourceExhausted],
  [499, Code.Canceled],
  [500, Code.Internal],
  [501, Code.Unimplemented],
  [504, Code.DeadlineExceeded],
]);
