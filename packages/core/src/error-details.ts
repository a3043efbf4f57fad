import {
  BadRequestSchema,
  ErrorInfoSchema,
  RetryInfoSchema,
} from "@a2a-connect/proto/google/rpc/error_details";
import type { DescMessage, JsonObject } from "@bufbuild/protobuf";
import type { ConnectError } from "@connectrpc/connect";
import { findErrorDetails } from "./errors.ts";
import { formatMessage } from "./json/format-json.ts";
import { parseMessage } from "./json/parse-json.ts";

const detailSchemas = [ErrorInfoSchema, BadRequestSchema, RetryInfoSchema] as const;

/**
 * The details of an error as ProtoJSON `Any` objects, each with its `@type` (requirement E-1). Details of unknown types
 * are left out: we never send any.
 */
export function formatErrorDetails(error: ConnectError): JsonObject[] {
  return detailSchemas.flatMap((schema) =>
    findErrorDetails(error, schema).map((detail) => ({
      "@type": `type.googleapis.com/${schema.typeName}`,
      ...(formatMessage<DescMessage>(schema, detail) as JsonObject), // a message that is no well-known type is an object
    })),
  );
}

/** The inverse of `formatErrorDetails`: items that are unknown or malformed are left out. */
export function parseErrorDetails(details: unknown): ConnectError["details"] {
  return Array.isArray(details) ? details.flatMap(parseErrorDetail) : [];
}

function parseErrorDetail(item: unknown): ConnectError["details"] {
  if (typeof item !== "object" || item === null || !("@type" in item)) {
    return [];
  }
  const desc = detailSchemas.find((schema) => item["@type"] === `type.googleapis.com/${schema.typeName}`);
  if (desc === undefined) {
    return [];
  }
  try {
    return [{ desc, value: parseMessage<DescMessage>(desc, item, { isLenient: true }) }];
  } catch {
    return [];
  }
}
