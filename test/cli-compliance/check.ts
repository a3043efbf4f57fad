import type { ControlledAgent } from "../../packages/cli/test-support/controlled-agent.ts";
import {
  type CommandResult,
  type CommandSurroundings,
  type RunningCommand,
  spawnCommand,
  startCommand,
} from "../../packages/cli/test-support/run-command.ts";
import { isLong } from "../faults/report.ts";
import { evidenceNames } from "./requirements.ts";

/** What a check finds around it. */
export interface Lab {
  /** Does everything that an A2A agent can, over every binding. */
  readonly agent: ControlledAgent;
  /** The same without streams and webhooks. */
  readonly silent: ControlledAgent;
  /** Empty at first; working directory and home of the commands. */
  readonly directory: string;
  /** Starts `a2a` as a user does, in a process of its own. */
  start(words: readonly string[], surroundings?: CommandSurroundings): RunningCommand;
  /** Runs `a2a` to its end, in this process; in the long run in one of its own. */
  a2a(...words: readonly string[]): Promise<CommandResult>;
  /** Runs `a2a` with these words for {@link Lab.agent}. */
  ask(...words: readonly string[]): Promise<CommandResult>;
}

/** One small look at the command from outside. */
export interface Check {
  /** What it is evidence of: requirements, error codes, aspects of defaults. */
  readonly shows: readonly string[];
  /** What the command does, in the present tense. */
  readonly title: string;
  run(lab: Lab): Promise<void>;
}

/** Declares a check. */
export type Shows = (
  what: string | readonly string[],
  title: string,
  run: (lab: Lab) => Promise<void>,
) => void;

/** The checks of one area, as `declare` names them. @throws Error for evidence of something that is not known */
export function collectChecks(declare: (shows: Shows) => void): readonly Check[] {
  const checks: Check[] = [];
  declare((what, title, run) => {
    const shows = [what].flat();
    for (const name of shows) {
      if (!evidenceNames.has(name)) {
        throw new Error(`${title}: there is no ${name} to show; see requirements.json`);
      }
    }
    checks.push({ shows, title, run });
  });
  return checks;
}

/** The lab's own means, for agents that run. */
export function createLab(agents: Pick<Lab, "agent" | "silent" | "directory">): Lab {
  const { agent, directory } = agents;
  // Most of what a process costs is its start. That the command is the same as a process is what every use of `start` shows.
  const begin = isLong ? spawnCommand : startCommand;
  const start: Lab["start"] = (words, surroundings = {}) =>
    spawnCommand(words, { cwd: directory, ...surroundings });
  const a2a: Lab["a2a"] = (...words) => begin(words, { cwd: directory }).result;
  return {
    ...agents,
    start,
    a2a,
    ask: (...words) => a2a(...words, "-a", agent.url),
  };
}
