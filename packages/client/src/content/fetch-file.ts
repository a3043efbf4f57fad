import { ContentTooLargeError, UnreachableError, UntrustedOutputError } from "../errors.ts";
import type { ArtifactServices } from "./artifact-reader.ts";

/**
 * The file behind a URL that an agent named, as it arrives.
 *
 * @throws UntrustedOutputError when the URL is no http or https URL, UnreachableError when the file cannot be had or is cut
 *   off, ContentTooLargeError (from the content) as soon as it is longer than `maxBytes`
 */
export async function fetchFile(
  text: string,
  { fetch = globalThis.fetch, maxBytes }: Pick<ArtifactServices, "fetch" | "maxBytes">,
): Promise<AsyncIterable<Uint8Array>> {
  const url = URL.parse(text);
  if (url === null || !["http:", "https:"].includes(url.protocol)) {
    throw new UntrustedOutputError("a part names a file that is not at an http or https URL");
  }
  const response = await fetch(url).catch((cause: unknown) => {
    throw new UnreachableError(`the file at ${url.origin} could not be fetched`, { cause });
  });
  if (!response.ok) {
    response.body?.cancel().catch(() => {}); // nobody wants it
    throw new UnreachableError(
      `${url.origin} answered with HTTP status ${response.status} instead of the file`,
    );
  }
  return limited(response, url, maxBytes);
}

async function* limited(response: Response, url: URL, maxBytes: number): AsyncGenerator<Uint8Array, void> {
  let length = 0;
  const reader = response.body?.getReader(); // not every browser can iterate over a stream
  try {
    for (let next = await reader?.read(); next?.value !== undefined; next = await reader?.read()) {
      length += next.value.byteLength;
      if (length > maxBytes) {
        throw new ContentTooLargeError(`the file at ${url.origin}`, maxBytes);
      }
      yield next.value;
    }
  } catch (cause) {
    throw cause instanceof ContentTooLargeError
      ? cause
      : new UnreachableError(`the file at ${url.origin} was cut off`, { cause });
  } finally {
    reader?.cancel().catch(() => {}); // it is closed already
  }
}
