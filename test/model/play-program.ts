import type { DurableEvent, DurableTask, EventTools, Turn, TurnEvent } from "@a2a-connect/server";
import { formatLabel, type Op, type Program } from "./program.ts";

/** What a program is played on: the process it runs in, and whoever writes down what it does. */
export interface Stage {
  /** A run begins. @returns its number */
  begin(signal: () => AbortSignal): number;
  end(run: number): unknown;
  /** Waits; for ever when the process is gone. @param signal undefined: deaf */
  wait(ms: number, signal: AbortSignal | undefined): Promise<void>;
  /** Never resolves when the process is gone: then nothing goes on in it. */
  alive(): Promise<void>;
  /** The side effect of a step. @returns its result, which is unique */
  effect(taskId: string, place: string): string;
  /** An op has given a value: the same in every run. */
  observe(taskId: string, place: string, value: string): void;
}

/** Texts of errors are private: they must not be seen anywhere. */
export const privateText = "PRIVATE";

const filler = "x".repeat(3_000);

/** What the tools make of ops that both kinds of executors have. */
function toEvent(op: Op, tools: EventTools, label: string) {
  switch (op.does) {
    case "working":
      return tools.working(op.words ? label : []);
    case "artifact":
      return tools.artifact({ id: op.id, text: op.big ? label + filler : label, last: op.last });
    case "chunk":
      return tools.append(op.id, op.big ? label + filler : label, { continue: op.continued, last: op.last });
    case "complete":
    case "fail":
    case "reject":
      return tools[op.does](label);
    default:
      return undefined;
  }
}

const isAbort = (error: unknown): boolean => error instanceof Error && error.name === "AbortError";

/** Plays a program as a turn. */
export async function* playTurn(turn: Turn, program: Program, stage: Stage): AsyncGenerator<TurnEvent> {
  const run = stage.begin(() => turn.signal);
  const label = (place: string) =>
    formatLabel({ program: turn.message.messageId, place, run, value: undefined });
  try {
    for (const [at, op] of program.ops.entries()) {
      await stage.alive();
      const event = toEvent(op, turn, label(`${at}`));
      if (event !== undefined) {
        yield event;
        continue;
      }
      switch (op.does) {
        case "reply":
          yield turn.reply(label(`${at}`));
          break;
        case "ask":
        case "auth": {
          const options = op.timeoutMs === undefined ? {} : { timeoutMs: op.timeoutMs };
          yield turn[op.does === "ask" ? "inputRequired" : "authRequired"](label(`${at}q`), options);
          break;
        }
        case "throw":
          throw new Error(`${privateText} thrown`);
        case "mistake":
          try {
            yield turn.inputRequired([]);
          } catch (error) {
            if (!op.caught) throw error;
          }
          break;
        case "wait":
        case "sleep":
          try {
            await stage.wait(op.ms, op.does === "wait" && op.deaf ? undefined : turn.signal);
          } catch (error) {
            if (program.onAbort === "cleanUp") yield turn.append("cleanup", "cleaned up");
            if (program.onAbort !== "stubborn") throw error;
          }
          break;
        default: // the others are for durable executors
      }
    }
  } finally {
    stage.end(run);
  }
}

/** Plays a program as a durable executor. */
export async function* playDurable(
  task: DurableTask,
  program: Program,
  stage: Stage,
): AsyncGenerator<DurableEvent> {
  const run = stage.begin(() => task.signal);
  const label = (place: string, value?: string) =>
    formatLabel({ program: task.message.messageId, place, run, value });
  const give = (place: string, value: string) => {
    stage.observe(task.taskId, place, value);
    return task.append("values", label(place, value));
  };
  try {
    for (const [at, op] of program.ops.entries()) {
      await stage.alive();
      const event = toEvent(op, task, label(`${at}`));
      if (event !== undefined) {
        yield event;
        continue;
      }
      const place = `${at}a`;
      try {
        switch (op.does) {
          case "reply":
            yield task.complete(label(`${at}`));
            break;
          case "ask":
          case "auth": {
            const question = {
              text: label(`${at}q`),
              ...(op.choices ? { choices: ["fit"] } : {}),
              ...(op.timeoutMs === undefined ? {} : { timeoutMs: op.timeoutMs }),
            };
            const { message } = yield* op.does === "ask" ? task.ask(question) : task.askForAuth(question);
            yield give(place, message.messageId);
            break;
          }
          case "throw":
            throw new Error(`${privateText} thrown`);
          case "mistake":
            try {
              yield task.artifact({ id: "none", parts: [] });
            } catch (error) {
              if (!op.caught) throw error;
            }
            break;
          case "wait":
            await stage.wait(op.ms, op.deaf ? undefined : task.signal);
            break;
          case "sleep":
            await task.sleep(op.ms);
            break;
          case "step":
            yield give(place, await playStep(task, op, place, stage));
            break;
          case "take":
            yield give(place, (await task.inbox.take()).messageId);
            break;
          case "poll":
            yield give(place, task.inbox.poll()?.messageId ?? "none");
            break;
          case "now":
            yield give(place, String(task.now()));
            break;
          case "random":
            yield give(place, String(task.random()));
            break;
          default: // an event, which was yielded above
        }
      } catch (error) {
        if (!isAbort(error) || program.onAbort === "obey") throw error;
        if (program.onAbort === "cleanUp") {
          await task.step("clean up", () => stage.effect(task.taskId, "cleanup"));
          throw error;
        }
        if (op.does === "step" || op.does === "take") yield give(place, "cut");
      }
    }
  } finally {
    stage.end(run);
  }
}

async function playStep(
  task: DurableTask,
  op: Extract<Op, { does: "step" }>,
  place: string,
  stage: Stage,
): Promise<string> {
  try {
    return await task.step(
      `step ${place}`,
      async ({ signal, attempt }) => {
        await stage.alive();
        const result = stage.effect(task.taskId, place);
        if (op.ms > 0) await stage.wait(op.ms, signal);
        if (attempt <= op.fails) throw new Error(`${privateText} step failed`);
        return result;
      },
      { retries: op.retries },
    );
  } catch (error) {
    if (isAbort(error) || !op.caught) throw error;
    return "failed";
  }
}
