import { CliError } from "../cli-error.ts";

/** Puts into words why nothing can listen where `--host` and `--port` say; any other error stays as it is. */
export function explainListenFailure(error: unknown, port: number | undefined): unknown {
  if (!(error instanceof Error)) {
    return error;
  }
  switch ("code" in error ? error.code : undefined) {
    case "EADDRINUSE":
      return new CliError("A2ACLI_ERR_INTERNAL", `port ${port} is in use by another process`, {
        hint: "choose another with --port, or any that is free with --port 0",
        cause: error,
      });
    case "EACCES":
      return new CliError("A2ACLI_ERR_INTERNAL", `port ${port} is not yours to listen on`, {
        hint: "choose one from 1024 on with --port",
        cause: error,
      });
    case "ENOTFOUND":
    case "EADDRNOTAVAIL":
      return new CliError("A2ACLI_ERR_USAGE", "--host is no name or address of this machine", {
        cause: error,
      });
    default:
      return error;
  }
}
