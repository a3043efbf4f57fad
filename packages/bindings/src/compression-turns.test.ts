import type { Compression } from "@connectrpc/connect/protocol";
import { describe, expect, it } from "vitest";
import { unpackBody } from "./body.ts";
import { encodeBody } from "./large-answer.ts";
import { compressEnvelope, compressOnce } from "./rpc/envelope.ts";

/** Compresses, and decompresses, to one byte, when the test says so. */
class SlowCompression implements Compression {
  readonly name = "slow";
  readonly #begun: PromiseWithResolvers<Uint8Array<ArrayBuffer>>[] = [];

  readonly compress = (): Promise<Uint8Array<ArrayBuffer>> => {
    const work = Promise.withResolvers<Uint8Array<ArrayBuffer>>();
    this.#begun.push(work);
    return work.promise;
  };

  readonly decompress = this.compress;

  get begun(): number {
    return this.#begun.length;
  }

  /** The one that began at this place is done. */
  end(index: number): void {
    this.#begun[index]?.resolve(new Uint8Array(1));
  }

  fail(index: number): void {
    this.#begun[index]?.reject(new Error("broken"));
  }

  async endAll(count: number): Promise<void> {
    for (let index = 0; index < count; index += 1) {
      await expect.poll(() => this.begun).toBeGreaterThan(index);
      this.end(index);
    }
  }
}

const limits = { maxBodyBytes: 1024, maxCompressionRatio: 200 };
const body = {
  [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error("it is read already")) }),
};

/** A caller and all that it can have compressed. */
function createCaller(callerNetwork: string, { signal } = new AbortController()) {
  const caller = { callerNetwork, signal };
  return {
    decompress: (by: Compression) => Promise.resolve(unpackBody(body, caller, new Uint8Array(1), by, limits)),
    compressAnswer: (by: Compression, text = "text", header = new Headers()) =>
      encodeBody(caller, text, by, "content-encoding", header),
    compressMessage: (by: Compression, envelope = new Uint8Array(6)) =>
      compressEnvelope(envelope, by, callerNetwork, signal),
    compressEvent: (by: Compression, envelope: Uint8Array) => compressOnce(envelope, by, callerNetwork),
  };
}

describe("compression, of all bodies and messages together", () => {
  const greedy = createCaller("192.0.2.1");
  const other = createCaller("192.0.2.2");

  it("is done for three at a time, also after some that failed", async () => {
    const slow = new SlowCompression();
    const all = [
      ...Array.from({ length: 4 }, () => greedy.decompress(slow)),
      ...Array.from({ length: 3 }, () => greedy.compressAnswer(slow)),
      ...Array.from({ length: 3 }, () => greedy.compressMessage(slow)),
    ];
    const settled = Promise.allSettled(all);
    for (let done = 0; done < all.length; done += 1) {
      await expect.poll(() => slow.begun).toBe(Math.min(all.length, done + 3));
      if (done % 2 === 0) slow.end(done);
      else slow.fail(done);
    }
    expect((await settled).filter(({ status }) => status === "rejected")).toHaveLength(5);
  });

  it("is done in turns of the callers, however much one of them asks for", async () => {
    const slow = new SlowCompression();
    const all = Promise.all(Array.from({ length: 20 }, () => greedy.compressAnswer(slow)));
    await expect.poll(() => slow.begun).toBe(3);
    const answer = other.compressAnswer(slow);
    slow.end(0);
    slow.end(1);
    await expect.poll(() => slow.begun).toBe(5);
    slow.end(3);
    slow.end(4);
    await answer;
    await slow.endAll(21);
    await all;
  });

  it("is left out where much of its caller's waits for a turn, and done for others", async () => {
    const slow = new SlowCompression();
    const text = "x".repeat(2 ** 20);
    const envelope = new Uint8Array(2 ** 20);
    const waiting = Promise.all([
      ...Array.from({ length: 2 }, () => greedy.compressAnswer(slow, text)),
      greedy.compressMessage(slow, envelope),
      greedy.compressEvent(slow, envelope),
    ]);
    const header = new Headers();
    expect(await greedy.compressAnswer(slow, text, header)).toBe(text);
    expect(header.has("content-encoding")).toBe(false);
    expect(await greedy.compressMessage(slow, envelope)).toBe(envelope);
    const event = new Uint8Array(2 ** 20);
    expect(await greedy.compressEvent(slow, event)).toBe(event);
    const others = other.compressAnswer(slow, text, header);
    await slow.endAll(5);
    await Promise.all([waiting, others]);
    expect(header.get("content-encoding")).toBe("slow");
    const again = greedy.compressEvent(slow, event);
    await slow.endAll(6);
    expect(await again).toHaveLength(6);
  });

  it("is not begun for a caller that has gone", async () => {
    const slow = new SlowCompression();
    const connection = new AbortController();
    const leaving = createCaller("192.0.2.3", connection);
    const first = Promise.all(Array.from({ length: 3 }, () => greedy.compressAnswer(slow)));
    await expect.poll(() => slow.begun).toBe(3);
    const waiting = Promise.allSettled([
      leaving.decompress(slow),
      leaving.compressAnswer(slow),
      leaving.compressMessage(slow),
    ]);
    connection.abort();
    await slow.endAll(3);
    await first;
    expect((await waiting).map(({ status }) => status)).toEqual(["rejected", "fulfilled", "fulfilled"]);
    expect(slow.begun).toBe(3);
  });
});
