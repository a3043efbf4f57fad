import { formatErrorDetails, wireCodes } from "@a2a-connect/core/internal";
import { Code, type ConnectError } from "@connectrpc/connect";

/**
 * The body of an error (requirement E.3): `error.code` is the HTTP status, `error.status` the name of the gRPC code.
 *
 * @param status of the response, when it differs from the error's status on this wire
 */
export function formatErrorBody(error: ConnectError, status: number = wireCodes(error).httpStatus): string {
  return JSON.stringify({
    error: {
      code: status,
      status: formatCode(error.code),
      message: error.rawMessage,
      details: formatErrorDetails(error),
    },
  });
}

/** `NOT_FOUND`: the code's name as google.rpc.Code spells it. */
export function formatCode(code: Code): string {
  return codeNames.get(code) ?? "UNKNOWN";
}

/** The code for a name in `error.status`; undefined for any other text. */
export function parseCode(name: unknown): Code | undefined {
  return typeof name === "string" ? codesByName.get(name) : undefined;
}

const codeNames: ReadonlyMap<Code, string> = new Map(
  Object.values(Code)
    .filter((code) => typeof code === "number")
    .map((code) => [code, upperSnake(code)]),
);

const codesByName: ReadonlyMap<string, Code> = new Map([...codeNames].map(([code, name]) => [name, code]));

function upperSnake(code: Code): string {
  // Connect spells it with one L, google.rpc.Code with two.
  return code === Code.Canceled ? "CANCELLED" : Code[code].replace(/(?<!^)([A-Z])/g, "_$1").toUpperCase();
}
