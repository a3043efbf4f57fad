/** The errors of the command itself: a2a-cli Appendix D, code and exit status. */
export const cliErrors = {
  A2ACLI_ERR_USAGE: 2,
  A2ACLI_ERR_CARD_NOT_FOUND: 3,
  A2ACLI_ERR_CARD_INVALID: 1,
  A2ACLI_ERR_UNREACHABLE: 3,
  A2ACLI_ERR_CREDENTIALS_MISSING: 4,
  A2ACLI_ERR_AUTH_FAILED: 4,
  A2ACLI_ERR_TIMEOUT: 5,
  A2ACLI_ERR_INTERNAL: 1,
} as const;

/** Code of an error of the command itself. */
export type CliErrorCode = keyof typeof cliErrors;

/** A command could not do its job, for a reason that the protocol has no name for. */
export class CliError extends Error {
  readonly code: CliErrorCode;
  /** What to do next, best a command to copy. */
  readonly hint: string | undefined;

  constructor(
    code: CliErrorCode,
    message: string,
    options: { readonly hint?: string; readonly cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.name = "CliError";
    this.code = code;
    this.hint = options.hint;
  }
}
