import { invalidParams } from "@a2a-connect/core";
import { findMissingFields } from "@a2a-connect/core/internal";
import type { SendMessageRequest } from "@a2a-connect/proto";
import type { Gate } from "./gate.ts";

/**
 * Refuses requests that lack a REQUIRED field, or have more parts than `maxParts` (requirements A-13, H-7). All wires
 * need this gate, because proto3 itself has no required fields.
 */
export function fieldGate(maxParts: number): Gate {
  return ({ method, request }) => {
    const missing = findMissingFields(method.desc.input, request);
    if (missing.length > 0) {
      throw invalidParams(missing);
    }
    const parts = isSend(request) ? (request.message?.parts.length ?? 0) : 0;
    if (parts > maxParts) {
      throw invalidParams({
        field: "message.parts",
        description: `has ${parts} parts; at most ${maxParts} are taken`,
      });
    }
  };
}

function isSend(request: { readonly $typeName: string }): request is SendMessageRequest {
  return request.$typeName === "lf.a2a.v1.SendMessageRequest";
}
