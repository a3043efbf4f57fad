import { spawnSync } from "node:child_process";
import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import type { SupervisedAgent } from "./supervised-agent.ts";

/** A way to take the place to write away from a running process, and to give it back. */
export interface SmallDisk {
  readonly name: string;
  /** Whether this machine lets us do it. */
  readonly isHere: boolean;
  /** What it lacks if it does not. */
  readonly needs: string;
  /** What the agent has to be started within. */
  readonly within: (dataDir: string) => readonly string[];
  readonly fill: (agent: SupervisedAgent, dataDir: string) => Promise<void>;
  readonly free: (agent: SupervisedAgent, dataDir: string) => Promise<void>;
}

/** A namespace of mounts, which is gone with the process. Users who are not root need the kernel's consent. */
const namespace = ["unshare", "--map-root-user", "--mount"];

/**
 * Holds the longest log that SQLite writes, 2,048 pages of 4 KiB, before it moves the log into the file and begins it anew.
 * A log that fills a smaller disk is never moved, so the store stays unavailable.
 */
const diskBytes = 16 * 2 ** 20;

/** The ways that we know. */
export const smallDisks: readonly SmallDisk[] = [
  {
    name: "a disk that is full",
    isHere: succeeds([...namespace, "mount", "-t", "tmpfs", "none", "/mnt"]),
    needs: "no right to mount a small disk",
    within: (dataDir) => [
      ...namespace,
      "sh",
      "-c",
      `mount -t tmpfs -o size=${diskBytes} none "$0" && exec "$@"`,
      dataDir,
    ],
    async fill({ pid }, dataDir) {
      const file = openSync(filler(pid, dataDir), "w");
      try {
        for (;;) writeSync(file, Buffer.alloc(4_096));
      } catch (error) {
        if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) throw error;
      } finally {
        closeSync(file);
      }
    },
    async free({ pid }, dataDir) {
      rmSync(filler(pid, dataDir));
    },
  },
  {
    name: "a limit on the size of files",
    isHere: succeeds(["prlimit", "--version"]),
    needs: "no `prlimit` of util-linux",
    within: () => [],
    fill: async ({ pid }) => limitFiles(pid, "0"),
    free: async ({ pid }) => limitFiles(pid, "unlimited"),
  },
  {
    name: "a database that is read-only",
    isHere: true,
    needs: "nothing",
    within: () => [],
    fill: (agent) => agent.setWritable(false),
    free: (agent) => agent.setWritable(true),
  },
];

/** A file on the disk that only the process sees. */
function filler(pid: number, dataDir: string): string {
  return `/proc/${pid}/root${dataDir}/filler`;
}

/** The kernel refuses what would make any file longer than that. The limit can be raised again. */
function limitFiles(pid: number, bytes: string): void {
  if (!succeeds(["prlimit", `--pid=${pid}`, `--fsize=${bytes}:unlimited`])) {
    throw new Error("the limit could not be set");
  }
}

function succeeds([command = "", ...args]: readonly string[]): boolean {
  return spawnSync(command, args, { stdio: "ignore" }).status === 0;
}
