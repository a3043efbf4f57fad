import type { DurableEvent, DurableTask } from "@a2a-connect/server";
import type { Command } from "./command.ts";
import { chunks, filler } from "./filler.ts";
import { goOnWith } from "./tck-rows.ts";
import { tour } from "./tour.ts";

const hour = 3_600_000;

/** What a step does to the world: something that can be counted. */
export type SideEffect = (taskId: string, step: number) => void;

/** What a crash does not disturb. */
export function createDurableCommands(sideEffect: SideEffect): readonly Command<DurableTask, DurableEvent>[] {
  return [
    {
      usage: "stream N [MS]      N chunks of 1 KB, MS milliseconds apart",
      pattern: /^stream (\d+)(?: (\d+))?$/,
      limits: [100_000, hour],
      async *run(task, _words, [count = 0, ms = 0]) {
        for (const chunk of chunks(task, count)) {
          yield chunk;
          await rest(task, ms);
        }
      },
    },
    {
      usage: "replace N KB       N updates of KB kilobytes, each replacing the one before",
      pattern: /^replace (\d+) (\d+)$/,
      limits: [1_000_000, 1_024],
      *run(task, _words, [count = 0, kilobytes = 0]) {
        for (let round = 1; round <= count; round++) {
          yield task.artifact({ id: "replaced", text: filler(`update ${round} `, kilobytes * 1_024 || 16) });
        }
      },
    },
    {
      usage: "sleep MS           COMPLETED after MS milliseconds",
      pattern: /^sleep (\d+)$/,
      limits: [hour],
      async *run(task, _words, [ms = 0]) {
        yield task.working();
        await task.sleep(ms);
        yield task.complete(`slept ${ms} ms`);
      },
    },
    {
      usage: "steps N MS         N journaled steps, MS milliseconds apart (see --side-effects)",
      pattern: /^steps (\d+) (\d+)$/,
      limits: [1_000, hour],
      async *run(task, _words, [count = 0, ms = 0]) {
        for (let index = 1; index <= count; index++) {
          await task.step("step", () => sideEffect(task.taskId, index));
          yield task.append("steps", `step ${index} of ${count}\n`);
          // Not inside the step: one that a crash cuts off in its pause would be done a second time.
          await rest(task, ms);
        }
        yield task.complete(`${count} steps done`);
      },
    },
    {
      usage: "ask QUESTION       INPUT_REQUIRED, then an artifact with the answer",
      pattern: /^ask (.+)$/s,
      async *run(task, [question = ""]) {
        const answer = yield* task.ask(question);
        yield* goOnWith(task, answer.message, () => [task.artifact({ name: "answer", text: answer.text })]);
      },
    },
    {
      usage: "tour               text, a table and a picture, as they stream in",
      pattern: /^tour$/,
      run: tour,
    },
    {
      usage:
        "crash              the process is killed, a new one goes on (only where npm start has started it)",
      pattern: /^crash$/,
      async *run(task) {
        const killed = await task.step("process", () => process.pid);
        if (killed === process.pid) {
          if (process.send === undefined) {
            yield task.reject("Nothing would start this process again: use npm start, without --open.");
            return;
          }
          process.send("crash");
          await new Promise<never>(() => {}); // it does not come to an end
        }
        yield task.complete(
          `Process ${killed} was killed. This is process ${process.pid}, which went on with all tasks.`,
        );
      },
    },
    {
      usage: "auth               AUTH_REQUIRED, then COMPLETED",
      pattern: /^auth$/,
      async *run(task) {
        yield* task.askForAuth(
          "Sign in where this agent keeps its credentials, then send any message to this task.",
        );
        yield task.complete("Thank you, that is enough.");
      },
    },
  ];
}

async function rest(task: DurableTask, ms: number): Promise<void> {
  if (ms > 0) {
    await task.sleep(ms);
  }
}
