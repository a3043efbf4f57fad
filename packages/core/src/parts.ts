import { type Message, MessageSchema, type Part, PartSchema, Role } from "@a2a-connect/proto";
import { create, type JsonObject, type JsonValue, type MessageInitShape } from "@bufbuild/protobuf";
import { fromJsonValue } from "./json/json-value.ts";

/** What any part may have beside its content. */
export interface PartDetails {
  /** Media type of the content, such as `image/png`. The default depends on the kind of part. */
  readonly mediaType?: string;
  readonly filename?: string;
  readonly metadata?: JsonObject;
}

/** A part of text. */
export function text(value: string, details: PartDetails = {}): Part {
  return create(PartSchema, { ...details, content: { case: "text", value } });
}

/** A part of structured data: any JSON, also null. @throws Error for other values */
export function json(value: JsonValue, details: PartDetails = {}): Part {
  return create(PartSchema, { ...details, content: { case: "data", value: fromJsonValue(value) } });
}

/** A part of bytes, such as a small file. */
export function bytes(value: Uint8Array, details: PartDetails = {}): Part {
  return create(PartSchema, { ...details, content: { case: "raw", value } });
}

/** A part whose content is to be fetched from a URL. */
export function fileUrl(url: string, details: PartDetails = {}): Part {
  return create(PartSchema, { ...details, content: { case: "url", value: url } });
}

/** A message without its role and parts. The caller chooses the id, since this package has no randomness. */
export type MessageDetails = Omit<MessageInitShape<typeof MessageSchema>, "$typeName" | "role" | "parts"> & {
  readonly messageId: string;
};

/** A message from the agent; a string stands for one text part. */
export function agentMessage(content: string | readonly Part[], details: MessageDetails): Message {
  return createMessage(Role.AGENT, content, details);
}

/** A message from the user; a string stands for one text part. */
export function userMessage(content: string | readonly Part[], details: MessageDetails): Message {
  return createMessage(Role.USER, content, details);
}

/** The text parts of a message or an artifact, joined without a separator; `""` when there are none. */
export function partText({ parts }: { readonly parts: readonly Part[] }): string {
  let text = "";
  for (const { content } of parts) {
    text += content.case === "text" ? content.value : ""; // `join` would copy all of it, even if no code reads it
  }
  return text;
}

function createMessage(role: Role, content: string | readonly Part[], details: MessageDetails): Message {
  return create(MessageSchema, {
    ...details,
    role,
    parts: typeof content === "string" ? [text(content)] : [...content],
  });
}
