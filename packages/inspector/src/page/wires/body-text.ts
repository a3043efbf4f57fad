import type { RpcMethod } from "@a2a-connect/core";
import { decodeMessage, formatMessage } from "@a2a-connect/core/internal";
import type { DescMessage } from "@bufbuild/protobuf";

const utf8 = new TextDecoder();

/** A body for people: JSON as it is, protobuf as JSON, each message of a stream by itself. */
export function bodyText(
  body: Uint8Array,
  contentType: string,
  method: RpcMethod,
  side: "input" | "output",
): readonly string[] {
  if (body.length === 0) return [];
  const [type = ""] = contentType.split(";");
  const desc = method.desc[side];
  if (type === "application/proto") return [protoText(desc, body)];
  if (type.startsWith("application/grpc-web") || type.startsWith("application/connect")) {
    return envelopes(body).map(({ flags, content }) => {
      if ((flags & 1) === 1) return "(compressed)";
      if (flags !== 0) return utf8.decode(content).trim() || "(end)";
      return protoText(desc, content);
    });
  }
  const text = utf8.decode(body);
  return type === "text/event-stream"
    ? text.split("\n\n").filter((each) => each.trim() !== "")
    : [pretty(text)];
}

/** The messages of gRPC-Web and Connect streams: a byte of flags, four of length, the content. */
function envelopes(body: Uint8Array): { readonly flags: number; readonly content: Uint8Array }[] {
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength);
  const found = [];
  for (let at = 0; at + 5 <= body.length; ) {
    const length = view.getUint32(at + 1);
    found.push({ flags: view.getUint8(at), content: body.subarray(at + 5, at + 5 + length) });
    at += 5 + length;
  }
  return found;
}

function protoText(desc: DescMessage, bytes: Uint8Array): string {
  try {
    return JSON.stringify(formatMessage(desc, decodeMessage(desc, bytes)), null, 2);
  } catch {
    return `(${bytes.length} bytes that are no whole ${desc.name})`;
  }
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** Bytes that are shown. */
const maxBytes = 4_096;

/** Bytes by sixteen: where, in hexadecimal, and as letters. */
export function hexText(bytes: Uint8Array): string {
  const rows: string[] = [];
  for (let at = 0; at < Math.min(bytes.length, maxBytes); at += 16) {
    const row = [...bytes.subarray(at, at + 16)];
    const hex = row.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
    const letters = row.map((byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : "·")).join("");
    rows.push(`${at.toString(16).padStart(6, "0")}  ${hex.padEnd(47)}  ${letters}`);
  }
  if (bytes.length > maxBytes) rows.push(`… ${bytes.length - maxBytes} more bytes`);
  return rows.join("\n");
}
