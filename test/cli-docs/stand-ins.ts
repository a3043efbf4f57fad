import { createHash } from "node:crypto";

/** Identifiers as they are printed. */
const uuid = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g;

/** What is different in every run, beside identifiers and ports that were given out. */
const volatile: readonly (readonly [pattern: RegExp, standIn: string])[] = [
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, "2026-01-31T09:30:00.000Z"],
  [/\b\d+ms\b/g, "42ms"],
  [/\b\d+\.\d ms\b/g, "4.2 ms"],
  // Digests of cards that name the port they are served at.
  [
    /(?<=^Digest: SHA-256 )[0-9a-f]{64}$/gm,
    "8a1f0b7c5d3e49266b0e1d2c3f4a59687786950a4b3c2d1e0f9e8d7c6b5a4f3e",
  ],
  [/(?<="sha256": ")[0-9a-f]{64}(?=")/g, "8a1f0b7c5d3e49266b0e1d2c3f4a59687786950a4b3c2d1e0f9e8d7c6b5a4f3e"],
  [/(?<=^ +")[\w-]{43}(?=",?$)/gm, "kYp0tY6Vn3cD2aR7mQ1xJ8sZfL4uBwE5gHiNoKvTqXc"],
  [/(?<=[Tt]humbprint(?:: | |": "))[\w-]{43}\b/g, "kYp0tY6Vn3cD2aR7mQ1xJ8sZfL4uBwE5gHiNoKvTqXc"],
  [/(?<=^Next page: |--page-token )\S+/gm, "W1siIiwiYW5vbnltb3VzIiwiIiwzLCIiXSwxNzcwMDAwMDAwMDAwXQ"],
  // A task that is left after a second has done as much as it could until then.
  [/^Progress: \d+ %\nText:\nsecond \d+ of 40$/gm, "Progress: 2 %\nText:\nsecond 2 of 40"],
  [/(?<=task subscribe .*--after )\d+/g, "3"],
  [/http:\/\/localhost:\d+\/push\/[\w-]+/g, "http://localhost:50123/push/1-vGwLBnpyl1eKo0zQd5iVU0rc"],
];

/**
 * What a page says in place of what is different in every run. The same command on the same page always prints the same,
 * wherever it stands, so that a page changes only where its commands do.
 */
export class StandIns {
  readonly #shown = new Map<string, string>();
  readonly #actual = new Map<string, string>();
  readonly #runs = new Map<string, number>();

  /** From now on, pages say `shown` where a command prints `actual`, and commands of a page mean `actual` by it. */
  add(actual: string, shown: string): void {
    this.#shown.set(actual, shown);
    this.#actual.set(shown, actual);
  }

  /** What pages say for it. */
  of(actual: string): string {
    return this.#shown.get(actual) ?? actual;
  }

  /** The output of a command as a page shows it. */
  show(command: string, output: string): string {
    const run = (this.#runs.get(command) ?? 0) + 1;
    this.#runs.set(command, run);
    let count = 0;
    for (const [id] of output.matchAll(uuid)) {
      if (!this.#shown.has(id)) {
        count += 1;
        this.add(id, createId(`${command}\n${run}\n${count}`));
      }
    }
    let text = output;
    for (const [actual, shown] of this.#shown) {
      text = text.replaceAll(actual, shown);
    }
    for (const [pattern, standIn] of volatile) {
      text = text.replaceAll(pattern, standIn);
    }
    return text.replaceAll(/[ \t]+$/gm, "");
  }

  /** A command of a page as it is to be run. @throws Error for an identifier that no command has printed */
  mean(command: string): string {
    let text = command;
    for (const [shown, actual] of this.#actual) {
      text = text.replaceAll(shown, actual);
    }
    for (const [id] of text.matchAll(uuid)) {
      if (!this.#shown.has(id)) {
        throw new Error(
          `no command before this one has printed ${id}; {task} stands for the last task: ${command}`,
        );
      }
    }
    return text;
  }
}

/** Looks like one that was drawn at random. */
function createId(seed: string): string {
  const hex = createHash("sha256").update(seed).digest("hex");
  const part = (from: number, to: number) => hex.slice(from, to);
  return `${part(0, 8)}-${part(8, 12)}-4${part(13, 16)}-a${part(17, 20)}-${part(20, 32)}`;
}
