import {
  extensionsHeader,
  formatExtensions,
  parseExtensions,
  versionHeader,
} from "@a2a-connect/core/internal";
import { A2AService, TaskPushNotificationConfigSchema } from "@a2a-connect/proto";
import {
  type DescMessage,
  type DescMethod,
  isMessage,
  type Message,
  type MessageShape,
} from "@bufbuild/protobuf";
import type { Candidate } from "./choose-interfaces.ts";

/** What every request to an agent has besides its caller's values. */
export interface CallParameters {
  /** Headers of a call take precedence. */
  readonly headers?: Readonly<Record<string, string>>;
  /** URIs of extensions, beside those of the call itself. */
  readonly extensions?: readonly string[];
}

/**
 * The headers of one call to an interface. `A2A-Version` is that of the interface, also when the caller set another
 * (requirement F-2). `A2A-Extensions` names all requested extensions in one value (G-2).
 */
export function callHeaders(
  { protocolVersion }: Candidate,
  { headers = {}, extensions = [] }: CallParameters,
  own: HeadersInit | undefined,
): Headers {
  const merged = new Headers(headers);
  new Headers(own).forEach((value, name) => {
    merged.set(name, value);
  });
  merged.set(versionHeader, protocolVersion);
  const asked = formatExtensions(parseExtensions([...extensions, merged.get(extensionsHeader) ?? ""]));
  if (asked !== undefined) {
    merged.set(extensionsHeader, asked);
  }
  return merged;
}

/** The request with exactly the interface's tenant, or none (requirement P-1). The caller's message is not changed. */
export function withTenant<Desc extends DescMessage>(
  desc: Desc,
  message: MessageShape<Desc>,
  tenant: string,
): MessageShape<Desc> {
  const known = desc.fields.some(({ localName }) => localName === "tenant");
  // The cast repeats that every request of A2A has the field, as the line above has found.
  return known && (message as { readonly tenant?: string }).tenant !== tenant
    ? { ...message, tenant }
    : message;
}

/** Whether a call may be repeated when its first result is not known: not a call that creates something each time. */
export function isRepeatable(method: DescMethod, message: Message): boolean {
  const { sendMessage, sendStreamingMessage } = A2AService.method;
  if (method === sendMessage || method === sendStreamingMessage) {
    return false;
  }
  return !isMessage(message, TaskPushNotificationConfigSchema) || message.id !== "";
}
