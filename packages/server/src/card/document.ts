/** Something that is served as it stands and may be kept for a while, such as the card: its bytes, and what names them. */
export interface Document {
  readonly contentType: string;
  readonly body: Uint8Array<ArrayBuffer>;
  /** SHA-256 of the bytes, in hex: the middle of its entity tags. */
  readonly digest: string;
  /** When it got these bytes, in whole seconds as HTTP dates have them; milliseconds since 1970. */
  readonly modifiedMs: number;
  /** Whether it had other bytes in that same second, so that the date alone does not tell which. */
  readonly sharesSecond: boolean;
  /** The bytes compressed, where that makes them fewer. Done once, when somebody first asks. */
  gzipped(): Promise<Uint8Array<ArrayBuffer> | undefined>;
}

/** @param before what was served there until now; with the same text it goes on, and so does its date */
export async function createDocument(
  text: string,
  contentType: string,
  now: number,
  before: Document | undefined,
): Promise<Document> {
  const body = new TextEncoder().encode(text);
  const digest = await sha256(body);
  if (before?.digest === digest) {
    return before;
  }
  const modifiedMs = Math.floor(now / 1_000) * 1_000;
  let compressing: Promise<Uint8Array<ArrayBuffer> | undefined> | undefined;
  return {
    contentType,
    body,
    digest,
    modifiedMs,
    sharesSecond: before?.modifiedMs === modifiedMs,
    gzipped() {
      compressing ??= gzip(body);
      return compressing;
    },
  };
}

async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function gzip(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream("gzip"));
  const compressed = new Uint8Array(await new Response(stream).arrayBuffer());
  return compressed.length < bytes.length ? compressed : undefined;
}
