/** Media types for the kinds of parts by which older cards named their modes. */
const mediaTypes: ReadonlyMap<string, string> = new Map([
  ["text", "text/plain"],
  ["file", "application/octet-stream"],
  ["data", "application/json"],
]);

/**
 * Modes as media types, each once. A text that is neither a kind nor a media type stays as it is.
 *
 * @param legacy gets the modes that were converted
 */
export function toMediaTypes(modes: readonly string[], legacy: Set<string>): string[] {
  const converted = modes.map((mode) => {
    const mediaType = mediaTypes.get(mode.toLowerCase());
    if (mediaType !== undefined) {
      legacy.add(mode);
    }
    return mediaType ?? mode;
  });
  return [...new Set(converted)];
}
