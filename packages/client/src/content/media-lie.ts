import { parseMediaType } from "@a2a-connect/core/internal";
import { fileTypeFromBuffer, supportedMimeTypes } from "file-type";

/** How many bytes of a file are read. */
const sniffedBytes = 64 * 1024;

/** How many of them decide whether it is text. */
const textBytes = 4096;

/**
 * Why bytes are not of their declared media type, as the rest of a sentence about them; undefined when they may be.
 * Types that claim nothing, such as application/octet-stream, are always accepted, and so are types whose files have no
 * signature bytes.
 */
export async function findMediaLie(bytes: Uint8Array, declared: string): Promise<string | undefined> {
  const type = essenceOf(declared);
  if (type === undefined) return "declare a media type that is none";
  if (type === "application/octet-stream") return undefined;
  const head = bytes.subarray(0, sniffedBytes);
  const found = (await fileTypeFromBuffer(head).catch(() => undefined))?.mime;
  const actual = found === undefined ? undefined : essenceOf(found);
  if (actual === undefined || isText(actual)) return findTextLie(head, type);
  return isText(type) || !isSame(type, actual) ? `declare ${type} and are ${actual}` : undefined;
}

/** Bytes without signature bytes, which may be text. */
function findTextLie(head: Uint8Array, type: string): string | undefined {
  if (isMarked(type)) return `declare ${type} and are something else`;
  if (!isText(type)) return undefined;
  if (isBinary(head)) return `declare ${type} and are binary`;
  const isPage = looksLikeHtml(new TextDecoder().decode(head.subarray(0, textBytes)));
  return isPage && !markup.test(type) ? `declare ${type} and are HTML` : undefined;
}

function essenceOf(text: string): string | undefined {
  const parsed = parseMediaType(text);
  if (parsed === undefined) return undefined;
  const essence = `${parsed.type}/${parsed.subtype}`;
  return aliases[essence] ?? essence;
}

/** Other names of types that file-type knows, and types that all programs treat as another one. */
const aliases: Readonly<Record<string, string>> = {
  "image/jpg": "image/jpeg",
  "image/pjpeg": "image/jpeg",
  "image/apng": "image/png",
  "image/vnd.microsoft.icon": "image/x-icon",
  "application/x-gzip": "application/gzip",
  "application/x-zip-compressed": "application/zip",
  "application/x-pdf": "application/pdf",
  "application/vnd.rar": "application/x-rar-compressed",
  "text/xml": "application/xml",
  "application/x-font-ttf": "font/ttf",
};

/** Whether a program would show the type as text. Then any text is accepted, and nothing else. */
function isText(type: string): boolean {
  return (
    type.startsWith("text/") ||
    /^application\/(?:.*\+)?(?:json|xml|yaml|rtf|postscript|javascript|x-ndjson)$/.test(type)
  );
}

/** Characters that may come before a tag. */
const markup = /html|xml|svg|markdown/;

/** Whether browsers would take it for a page, or for a script in one, if allowed. */
function looksLikeHtml(text: string): boolean {
  let rest = text.replace(/^\uFEFF/, "").trimStart();
  while (rest.startsWith("<!--")) {
    const end = rest.indexOf("-->");
    if (end === -1) return true;
    rest = rest.slice(end + 3).trimStart();
  }
  return /^<(?:!doctype\s+html|html|head|body|script|iframe|object|embed)[\s>]/i.test(rest);
}

/**
 * Whether every file of the type begins with signature bytes that file-type knows. Then a file without them is not of
 * the type.
 */
function isMarked(type: string): boolean {
  const marked =
    /^(?:image|audio|video|font)\//.test(type) || type === "application/pdf" || type === "application/zip";
  return marked && supportedMimeTypes.has(type as never);
}

/** A zero byte, except in UTF-16, which has a byte order mark. */
function isBinary(head: Uint8Array): boolean {
  const isWide = (head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0xfe && head[1] === 0xff);
  return !isWide && head.subarray(0, textBytes).includes(0);
}

/** Whether a file of the declared type may be a container of the actual type. */
function isSame(declared: string, actual: string): boolean {
  if (declared === actual) return true;
  const [family] = declared.split("/");
  const [actualFamily] = actual.split("/");
  if (family === "audio" || family === "video")
    return actualFamily === "audio" || actualFamily === "video" || actual === "application/ogg";
  if (actual === "application/zip") return isZipBased(declared);
  if (actual === "application/x-cfb") return /^application\/(?:msword|vnd\.ms-|vnd\.visio)/.test(declared);
  return false;
}

function isZipBased(type: string): boolean {
  return (
    /^application\/(?:vnd\.(?:openxmlformats|oasis|ms-|android|apple|sketchup)|epub|java-archive|.*\+zip$)/.test(
      type,
    ) || type === "model/3mf"
  );
}
