import { randomUUID } from "node:crypto";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";

/** A batch that is being handed over: what somebody has to know who goes on with it after a crash. */
export interface OpenHandover {
  /** Its name: whoever sends under the same one again gets the task that there is. */
  readonly key: string;
  /** Unknown until the worker has it. */
  readonly taskId?: string;
}

/** Where an orchestrator notes what it is doing. */
export interface HandoverFile {
  /** What an earlier process has left open, else a new one, which is in the file before this resolves. */
  open(): Promise<OpenHandover>;
  write(handover: OpenHandover): Promise<void>;
  /** The result is there: the next handover is another one. */
  close(): Promise<void>;
}

/** @throws from `open`, when the file is there and cannot be read */
export function createHandoverFile(file: string): HandoverFile {
  const write = async (handover: OpenHandover): Promise<void> => {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(`${file}.new`, JSON.stringify(handover), { flush: true });
    await rename(`${file}.new`, file); // whole or not at all
  };
  return {
    async open() {
      const found = await readFile(file, "utf8").catch(() => undefined);
      if (found !== undefined) {
        return JSON.parse(found) as OpenHandover; // only `write` writes it
      }
      const handover = { key: randomUUID() };
      await write(handover);
      return handover;
    },
    write,
    close: () => rm(file, { force: true }),
  };
}
