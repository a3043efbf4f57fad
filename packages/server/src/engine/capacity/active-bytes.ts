import { a2aError } from "@a2a-connect/core";
import type { EngineContext } from "../engine-context.ts";

/** What a message may weigh without being counted: as many as there are places take little. */
const smallBytes = 16 * 1024;

/** When a caller may try again. */
const retryAfterSeconds = 1;

/**
 * Counts what the messages of new tasks take in memory while those run or wait. Places alone bound nothing: thousands of tasks may
 * run and wait, and each may have come with as much as a request can hold.
 */
export class ActiveBytes {
  readonly #maxBytes: number;
  readonly #maxShare: number;
  readonly #byShare = new Map<string, number>();
  #bytes = 0;

  constructor({ maxActiveBytes, maxShare }: Pick<EngineContext["limits"], "maxActiveBytes" | "maxShare">) {
    this.#maxBytes = maxActiveBytes;
    this.#maxShare = maxShare;
  }

  /**
   * Counts a message. One that is alone is taken however large.
   *
   * @param share the caller; its part is bounded as that of the places is (see `Shares`)
   * @returns what to call, once or more often, when its task neither runs nor waits any more
   * @throws ConnectError CAPACITY when there is no room for it
   */
  take(share: string | undefined, bytes: number): () => void {
    if (bytes <= smallBytes) {
      return () => {};
    }
    if (this.#bytes > 0 && !this.#hasRoom(share, bytes)) {
      throw this.#full();
    }
    this.#count(share, bytes);
    let isCounted = true;
    return () => {
      if (isCounted) this.#count(share, -bytes);
      isCounted = false;
    };
  }

  #hasRoom(share: string | undefined, bytes: number): boolean {
    const free = this.#maxBytes - this.#bytes - bytes;
    const own = share === undefined ? 0 : this.#heldBy(share) + bytes;
    return free >= 0 && own * (1 - this.#maxShare) <= free * this.#maxShare;
  }

  #heldBy(share: string): number {
    return this.#byShare.get(share) ?? 0;
  }

  #count(share: string | undefined, bytes: number): void {
    this.#bytes += bytes;
    if (share === undefined) return;
    const held = this.#heldBy(share) + bytes;
    if (held === 0) this.#byShare.delete(share);
    else this.#byShare.set(share, held);
  }

  #full(): Error {
    return a2aError(
      "CAPACITY",
      `the messages of tasks that run or wait take most of ${this.#maxBytes} bytes; send it again in ${retryAfterSeconds} second or later, or a smaller one`,
      { retryAfterSeconds: String(retryAfterSeconds), maxActiveBytes: String(this.#maxBytes) },
    );
  }
}

/** Memory of an object besides what it refers to, about, in bytes. */
const objectBytes = 64;

/**
 * What a message takes in memory, about, in bytes: a megabyte of small values is a hundred of objects. The limit on the depth of
 * JSON bounds the recursion.
 */
export function weighMessage(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 0;
  if (value instanceof Uint8Array) return objectBytes + value.byteLength;
  let bytes = objectBytes;
  if (Array.isArray(value)) {
    for (const element of value) bytes += weighMessage(element);
    return bytes;
  }
  const members = value as Readonly<Record<string, unknown>>;
  for (const name in members) {
    if (name !== "$typeName" && name !== "case") bytes += name.length + weighMessage(members[name]);
  }
  return bytes;
}
