import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** What an executor did to the world outside, in a file that no kill takes a line from. */
export interface Effects {
  /** A step does what it is there for. */
  did(taskId: string, step: string): void;
  /** The step has returned: its result is stored, and it must never be done again. */
  returned(taskId: string, step: string): void;
}

/** The effects of the agent that keeps its data here. */
export function openEffects(dataDir: string): Effects {
  const note = (word: Word) => (taskId: string, step: string) =>
    appendFileSync(effectsFile(dataDir), `${word} ${taskId} ${step}\n`);
  return { did: note("did"), returned: note("returned") };
}

/** What became of the steps of one task. */
export interface StepEffects {
  /** How often each was done, by its name. */
  readonly times: ReadonlyMap<string, number>;
  /** Those that were done once more after they had returned. */
  readonly repeated: readonly string[];
}

/** Reads back what the steps of a task did. */
export function readEffects(dataDir: string, taskId: string): StepEffects {
  const times = new Map<string, number>();
  const finished = new Set<string>();
  const repeated: string[] = [];
  const file = effectsFile(dataDir);
  for (const line of existsSync(file) ? readFileSync(file, "utf8").split("\n") : []) {
    const [word, id, ...rest] = line.split(" ");
    const step = rest.join(" ");
    if (id !== taskId) continue;
    if (word === "returned") finished.add(step);
    else {
      times.set(step, (times.get(step) ?? 0) + 1);
      if (finished.has(step)) repeated.push(step);
    }
  }
  return { times, repeated };
}

type Word = "did" | "returned";

function effectsFile(dataDir: string): string {
  return join(dataDir, "effects.log");
}
