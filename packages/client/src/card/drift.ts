import { findA2AError } from "@a2a-connect/core";
import { Code, ConnectError } from "@connectrpc/connect";
import { InputModeError, RequirementError } from "../errors.ts";

/** Failures of a submission that a changed card explains. The agent created no task in any of them. */
export function mayComeOfChangedCard(error: unknown): boolean {
  if (error instanceof RequirementError || error instanceof InputModeError) {
    return true;
  }
  const reason = findA2AError(error)?.reason;
  return (
    reason === "CONTENT_TYPE_NOT_SUPPORTED" ||
    reason === "VERSION_NOT_SUPPORTED" ||
    reason === "EXTENSION_SUPPORT_REQUIRED" ||
    (error instanceof ConnectError && error.code === Code.Unimplemented)
  );
}
