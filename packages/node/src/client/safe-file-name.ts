const encoder = new TextEncoder();

/** The longest name that common file systems take, in bytes of UTF-8. */
const maxNameBytes = 255;

/** Room for the number that tells files of one name apart: `-10000`. */
const maxNumberBytes = 6;

/** What Windows takes for devices, whatever their extension. */
const deviceNames = /^(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])$/i;

/** Control characters of both kinds, and those that turn the direction of writing: `annex‮fdp.exe` looks like a PDF. */
const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** What Windows or a shell gives a meaning. */
const special = /[<>:"|?*]/g;

/**
 * A name that a file may have on any system, from one that others chose: its last segment, without what is invisible,
 * hides the file, or names a device. `file` when nothing is left.
 */
export function safeFileName(name: string): string {
  const segment = name.split(/[/\\]/).pop() ?? "";
  const plain = segment.replace(invisible, "").replace(special, "_");
  const trimmed = plain.replace(/^[.\s]+/, "").replace(/[.\s]+$/, "");
  const [stem, extension] = splitExtension(trimmed === "" ? "file" : trimmed);
  const base = deviceNames.test(stem.split(".")[0]?.trimEnd() ?? "") ? `_${stem}` : stem;
  return shorten(base, extension, maxNameBytes - maxNumberBytes);
}

/** `report.pdf` and 2 give `report-2.pdf`. */
export function numberedName(name: string, number: number): string {
  const [stem, extension] = splitExtension(name);
  return `${stem}-${number}${extension}`;
}

/** An extension is what a program would take for one: short, after the last dot. */
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
