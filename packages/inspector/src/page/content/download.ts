/** Characters that a file system may not take, or that may make a name look like another. */
const unsafe = /[^\p{L}\p{N}._ -]|^\.+/gu;

/** Offers content as a file. Its name is cut down to letters, digits and few signs; its type never makes a browser open it. */
export function save(
  name: string,
  content: readonly BlobPart[],
  mediaType = "application/octet-stream",
): void {
  const url = URL.createObjectURL(new Blob([...content], { type: mediaType }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name.replaceAll(unsafe, "_").slice(-120) || "file";
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
