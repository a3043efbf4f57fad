import { parseMediaType } from "@a2a-connect/core/internal";
import { fileTypeFromBuffer, supportedMimeTypes } from "file-type";

/** How much of a file is looked at. */
const sniffedBytes = 64 * 1024;

/** How much of it decides whether it is text. */
const textBytes = 4096;

/**
 * Why bytes are not of the media type that they are declared as, as the rest of a sentence about them; undefined when they
 * may well be. Types that claim nothing, such as application/octet-stream, are never lies, and neither are those that have
 * no marks of their own.
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

/** Bytes without a mark, which may be text. */
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

/** Other names of types that file-type knows, and types that are another one to every program. */
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

/** Whether a program would show it as text, so that it may be anything in letters and nothing else. */
function isText(type: string): boolean {
  return (
    type.startsWith("text/") ||
    /^application\/(?:.*\+)?(?:json|xml|yaml|rtf|postscript|javascript|x-ndjson)$/.test(type)
  );
}

/** What may begin with a tag. */
const markup = /html|xml|svg|markdown/;

/** Whether browsers would take it for a page, or for a script in one, when they are let. */
function looksLikeHtml(text: string): boolean {
  let rest = text.replace(/^\uFEFF/, "").trimStart();
  while (rest.startsWith("<!--")) {
    const end = rest.indexOf("-->");
    if (end === -1) return true;
    rest = rest.slice(end + 3).trimStart();
  }
  return /^<(?:!doctype\s+html|html|head|body|script|iframe|object|embed)[\s>]/i.test(rest);
}

/** Whether every file of the type begins with marks that file-type knows: then one without them is none. */
function isMarked(type: string): boolean {
  const marked =
    /^(?:image|audio|video|font)\//.test(type) || type === "application/pdf" || type === "application/zip";
  return marked && supportedMimeTypes.has(type as never);
}

/** A zero byte, but in UTF-16, which says so. */
function isBinary(head: Uint8Array): boolean {
  const isWide = (head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0xfe && head[1] === 0xff);
  return !isWide && head.subarray(0, textBytes).includes(0);
}

/** Whether what is declared may be in a container of the actual type. */
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
