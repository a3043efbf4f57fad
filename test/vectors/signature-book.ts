import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

const home: URL = new URL("signatures.json", import.meta.url);

/**
 * Signatures that were made before. ECDSA and PSS sign differently each time, so each is kept once it is made: the files stay
 * as they are until something in them changes.
 */
export class SignatureBook {
  readonly #before: Readonly<Record<string, string>>;
  readonly #used = new Map<string, string>();

  private constructor(before: Readonly<Record<string, string>>) {
    this.#before = before;
  }

  static read(): SignatureBook {
    return new SignatureBook(JSON.parse(readFileSync(home, "utf8")));
  }

  /** The signature over this input by this key: an earlier one if it still verifies, else a new one. */
  async signature(
    by: string,
    input: string,
    verifies: (signature: string) => boolean | Promise<boolean>,
    make: () => string | Promise<string>,
  ): Promise<string> {
    const id = createHash("sha256").update(`${by} ${input}`).digest("hex");
    const before = this.#before[id];
    const signature = before !== undefined && (await verifies(before)) ? before : await make();
    this.#used.set(id, signature);
    return signature;
  }

  /** The text of the file: what was asked for since it was read, sorted. */
  toText(): string {
    return `${JSON.stringify(Object.fromEntries([...this.#used].sort()), null, 2)}\n`;
  }

  static get file(): URL {
    return home;
  }
}
