import { type Command, InvalidArgumentError } from "commander";

/** What `--exit-state` leaves in a command's options. */
export interface ExitStateOptions {
  readonly exitState?: boolean;
}

/** Adds `--exit-state`: the exit status says what became of the task, and not only that the command did its job. */
export function addExitStateOption(command: Command): Command {
  return command.option(
    "--exit-state",
    "exit by the task's state: 0 completed, 20 failed, 21 canceled, 22 rejected, 23 input required, " +
      "24 auth required, 25 not ended (default: 0 whatever the agent decided)",
  );
}

/** A parser of option values that are whole numbers from `min` to `max`. */
export function wholeNumber(min: number, max: number = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= min && value <= max)) {
      const range = max === Number.MAX_SAFE_INTEGER ? `of ${min} or more` : `from ${min} to ${max}`;
      throw new InvalidArgumentError(`It must be a whole number ${range}.`);
    }
    return value;
  };
}
