import { spawn, spawnSync } from "node:child_process";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import type { SqliteTaskStoreOptions } from "../src/sqlite-task-store.ts";

/** A process of its own that has a store open. */
export interface StoreChild {
  /** Resolves once it has printed so many whole lines; rejects when it ends before. */
  printed(count: number): Promise<void>;
  /** SIGKILL: nothing of it runs any more, not even a handler. */
  kill(): void;
  /** All whole lines that it has printed, once it has ended; rejects when it failed by itself. */
  readonly ended: Promise<readonly string[]>;
}

interface ChildOptions extends SqliteTaskStoreOptions {
  /** The shell's limit on the size of files, in its own blocks (512 or 1,024 bytes): writing beyond it fails. */
  readonly limitFileBlocks?: number;
  /** Size of a disk that has only the directory of the file, which the process alone sees (`hasSmallDisks`). */
  readonly diskBytes?: number;
}

/** A namespace of mounts, which is gone with the process. Users who are not root need the kernel's consent. */
const namespace = ["unshare", "--map-root-user", "--mount"];

/** Whether this machine lets a process have a small disk of its own. */
export function hasSmallDisks(): boolean {
  const [command = "", ...args] = [...namespace, "mount", "-t", "tmpfs", "none", "/mnt"];
  return spawnSync(command, args, { stdio: "ignore" }).status === 0;
}

/** Modules of the testing package: all of it takes a process six times as long to load, vitest among it. */
const testing = new URL("../../testing/src/", import.meta.url);

/**
 * Runs `script`, a module's text, in a process that has `store`, and from the testing package `commitStorm`,
 * `createCommit`, `createPushConfig` and `alice`.
 */
export function startStore(
  { limitFileBlocks, diskBytes, ...options }: ChildOptions,
  script: string,
): StoreChild {
  const source = `
    import { alice, createCommit, createPushConfig } from "${new URL("task-commit.ts", testing)}";
    import { commitStorm } from "${new URL("task-store/commit-storm.ts", testing)}";
    import { createSqliteTaskStore } from "./src/index.ts";
    const store = createSqliteTaskStore(${JSON.stringify(options)});
    ${script}
    await store.close();
  `;
  const limit = limitFileBlocks === undefined ? "" : `ulimit -f ${limitFileBlocks};`;
  const mount = diskBytes === undefined ? "" : `mount -t tmpfs -o size=${diskBytes} none "$2" &&`;
  const [command = "", ...args] = [
    ...(diskBytes === undefined ? [] : namespace),
    ...["sh", "-c", `${limit} ${mount} exec "$0" --input-type=module --eval "$1"`],
  ];
  const child = spawn(command, [...args, process.execPath, source, dirname(options.file)], {
    cwd: fileURLToPath(new URL("..", import.meta.url)),
    stdio: ["ignore", "pipe", "pipe"],
  });
  const lines: string[] = [];
  let rest = "";
  let errors = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    const pieces = (rest + text).split("\n");
    rest = pieces.pop() ?? "";
    lines.push(...pieces);
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
  });
  const { promise: ended, resolve, reject } = Promise.withResolvers<readonly string[]>();
  child.on("error", reject);
  child.on("close", (code) => {
    if (code === 0 || child.killed) resolve(lines);
    else reject(new Error(`the child ended with ${code}: ${errors}`));
  });
  ended.catch(() => undefined); // a test that awaits it gets the error

  return {
    async printed(count) {
      const { promise: enough, resolve: seen } = Promise.withResolvers<void>();
      const look = () => {
        if (lines.length >= count) seen();
      };
      child.stdout.on("data", look);
      look();
      await Promise.race([enough, ended]);
      child.stdout.off("data", look);
      if (lines.length < count) throw new Error(`the child ended after ${lines.length} lines: ${errors}`);
    },
    kill() {
      child.kill("SIGKILL");
    },
    ended,
  };
}
