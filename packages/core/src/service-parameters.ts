import {
  GetTaskRequestSchema,
  SendMessageConfigurationSchema,
  TaskArtifactUpdateEventSchema,
  TaskSchema,
  TaskStatusUpdateEventSchema,
} from "@a2a-connect/proto";
import type { DescField } from "@bufbuild/protobuf";
import type { ConnectError } from "@connectrpc/connect";
import { invalidParams } from "./errors.ts";

/**
 * Service parameters: what a call sends beside the message, as HTTP headers or gRPC metadata (spec §3.2.6, §3.6;
 * requirements F and G). Header names are case-insensitive.
 */

/** Carries the protocol version of a request. */
export const versionHeader = "A2A-Version";

/** Carries the URIs of the extensions that a request asks for, or that a response used. */
export const extensionsHeader = "A2A-Extensions";

/** Carries a key by which the server recognises a repeated request (docs/idempotency.md). */
export const idempotencyKeyHeader = "Idempotency-Key";

/** Carries the id of the caller's last event, so that a stream continues after it (requirement A-36). */
export const lastEventIdHeader = "Last-Event-ID";

/** The version that this library speaks by default. */
export const protocolVersion = "1.0";

/**
 * The version whose fields are a draft: used only when the server offers it and the request asks for it (requirements
 * R).
 */
export const draftProtocolVersion = "1.1";

/** The version of a request that names none (requirement F-4). */
export const absentProtocolVersion = "0.3";

/** Most parameters of a query. Each is an object, and is looked at several times before the call is known. */
const maxQueryParameters = 100;

/** Longest version text that an error repeats to a caller, in UTF-16 units. */
const maxVersionLength = 16;

/** What clients send with a request. */
export interface ServiceParameters {
  /** `Major.Minor` of the chosen interface. Default {@link protocolVersion}. */
  readonly protocolVersion?: string;
  /** URIs of the extensions to activate. Default none. */
  readonly extensions?: readonly string[];
}

/**
 * The `Major.Minor` of a version text: `1.0.7` is `1.0`, an absent or empty one is `0.3` (requirements F-1, F-4). A
 * text that is not a version is returned shortened, and is then not among the supported versions.
 */
export function parseProtocolVersion(value: string | null | undefined): string {
  // A repeated header arrives as one comma-joined value. To repeat the same version has no effect.
  const versions = new Set((value ?? "").split(",").map((text) => majorMinor(text.trim())));
  versions.delete("");
  const [first = absentProtocolVersion] = versions;
  return versions.size > 1 ? (value ?? "").slice(0, maxVersionLength) : first;
}

function majorMinor(version: string): string {
  return /^(\d{1,5}\.\d{1,5})(?:\.\d{1,9})?$/.exec(version)?.[1] ?? version.slice(0, maxVersionLength);
}

/** The version a request asks for: its header, else the query parameter of the same name (requirement F-3). */
export function readProtocolVersion(header: Headers, query?: URLSearchParams): string {
  return parseProtocolVersion(findParameter(header, query, versionHeader));
}

/**
 * The extension URIs in values of `A2A-Extensions`: comma-joined, repeated or both, in order, each once
 * (requirement G-2).
 */
export function parseExtensions(values: string | null | undefined | Iterable<string>): string[] {
  const entries = typeof values === "string" ? [values] : (values ?? []);
  const uris = [...entries].flatMap((entry) => entry.split(",")).map((uri) => uri.trim());
  return [...new Set(uris)].filter((uri) => uri !== "");
}

/** The extensions a request asks for: its header, else the query parameter of the same name. */
export function readExtensions(header: Headers, query?: URLSearchParams): string[] {
  return parseExtensions(findParameter(header, query, extensionsHeader));
}

/** Why a query is refused, before it is parsed; undefined when it may be. */
export function refuseQuery(text: string): ConnectError | undefined {
  let parameters = 1;
  for (let at = text.indexOf("&"); at !== -1; at = text.indexOf("&", at + 1)) parameters += 1;
  if (parameters <= maxQueryParameters) return undefined;
  const description = `the query has ${parameters} parameters, and the limit is ${maxQueryParameters}`;
  return invalidParams({ field: "", description });
}

/** One header value for these extension URIs; undefined for none. */
export function formatExtensions(uris: readonly string[]): string | undefined {
  return uris.length === 0 ? undefined : uris.join(",");
}

/** Puts the service parameters of a client's request into its headers (requirements F-2, G-2). */
export function setServiceParameters(header: Headers, parameters: ServiceParameters = {}): void {
  header.set(versionHeader, parameters.protocolVersion ?? protocolVersion);
  const extensions = formatExtensions(parameters.extensions ?? []);
  if (extensions !== undefined) {
    header.set(extensionsHeader, extensions);
  }
}

function findParameter(
  header: Headers,
  query: URLSearchParams | undefined,
  name: string,
): string | undefined {
  return header.get(name)?.trim() || findQueryParameter(query, name.toLowerCase());
}

function findQueryParameter(query: URLSearchParams | undefined, name: string): string | undefined {
  const values = [...(query ?? [])].filter(([key]) => key.toLowerCase() === name).map(([, value]) => value);
  return values.length === 0 ? undefined : values.join(",");
}

/** `protocolBinding` of the Connect protocol, which the specification does not name (spec §5.8: a URI). */
export const connectBinding = "urn:a2a-connect:binding:connect:v1";

/** `protocolBinding` of gRPC-Web, which the specification does not name either. */
export const grpcWebBinding = "urn:a2a-connect:binding:grpc-web:v1";

/**
 * Fields of the A2A 1.1 draft (requirements R). The proto marks them in comments, which descriptors do not contain. The
 * server neither shows them to callers that did not negotiate 1.1, nor takes them from such callers.
 */
export const draftFields: ReadonlySet<DescField> = new Set([
  SendMessageConfigurationSchema.field.ifGenerationMatch,
  TaskSchema.field.generation,
  TaskStatusUpdateEventSchema.field.generation,
  TaskArtifactUpdateEventSchema.field.generation,
  GetTaskRequestSchema.field.currentGeneration,
]);
