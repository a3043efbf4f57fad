import { trimEndOf, visibleText } from "@a2a-connect/core/internal";

const encoder = new TextEncoder();

/** The longest name that common file systems allow, in bytes of UTF-8. */
const maxNameBytes = 255;

/** How much is read of the beginning and of the end of a longer name, in UTF-16 units: an agent may send megabytes of it. */
const maxReadLength = 4_096;

/** Room for the number that distinguishes files of one name: `-10000`. */
const maxNumberBytes = 6;

/** Names that Windows takes for devices, with any extension. */
const deviceNames = /^(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])$/i;

/** Names of our own settings: `a2a` obeys those in its working directory and above. */
const settingsNames = /^a2a\.config(?:$|\.)/i;

/** Characters with a meaning for Windows, characters that a shell expands even within quotes, and ends of lines. */
const special = /[<>:"|?*$`\n\t]/g;

/**
 * Characters that a name must not begin with: it would hide the file, or be an option (`-rf`), a user's home (`~root`)
 * or a comment.
 */
const leading = /^[.\s~#-]+/;

/**
 * A safe file name, made from a name that another party chose: its last segment, without invisible characters. It does
 * not hide the file, name a device or the settings of `a2a`, or have a meaning for a shell or a program that gets it as
 * an argument. `file` when no character remains.
 */
export function safeFileName(name: string): string {
  const segment = name.slice(Math.max(name.lastIndexOf("/"), name.lastIndexOf("\\")) + 1);
  const read =
    segment.length <= 2 * maxReadLength
      ? segment
      : segment.slice(0, maxReadLength) + segment.slice(-maxReadLength);
  const plain = visibleText(read).replace(special, "_"); // unseen, `annex‮fdp.exe` would look like a PDF
  const trimmed = trimEndOf(plain.replace(leading, ""), (character) => /[.\s]/.test(character));
  const [stem, extension] = splitExtension(trimmed === "" ? "file" : trimmed);
  const maxBytes = maxNameBytes - maxNumberBytes;
  const short = shorten(stem, extension, maxBytes);
  return isReserved(short) ? shorten(`_${stem}`, extension, maxBytes) : short;
}

/** It judges what will be the file's name: spaces that are cut off may have stood before its extension. */
function isReserved(name: string): boolean {
  const isSettings = settingsNames.test(name.normalize("NFKC")); // macOS takes the ligature `ﬁ` for `fi`
  return isSettings || deviceNames.test(name.split(".")[0]?.trimEnd() ?? "");
}

/** `report.pdf` and 2 give `report-2.pdf`. */
export function numberedName(name: string, number: number): string {
  const [stem, extension] = splitExtension(name);
  return `${stem}-${number}${extension}`;
}

/** An extension, as programs recognise one: short, after the last dot. */
function splitExtension(name: string): readonly [stem: string, extension: string] {
  const extension = /.(\.[^.\s]{1,16})$/u.exec(name)?.[1] ?? "";
  return [name.slice(0, name.length - extension.length), extension];
}

function shorten(stem: string, extension: string, maxBytes: number): string {
  const room = maxBytes - encoder.encode(extension).byteLength;
  let kept = "";
  let length = 0;
  for (const character of stem) {
    length += encoder.encode(character).byteLength;
    if (length > room) break;
    kept += character;
  }
  return `${kept.trimEnd()}${extension}`;
}
