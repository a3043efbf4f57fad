import { readLifecycleReport } from "@a2a-connect/core";
import { TaskState } from "@a2a-connect/proto";
import { readEffects } from "./effects.ts";
import { type Command, stepNames } from "./fault-agent.ts";
import type { Played } from "./scenario.ts";
import { findOddities, normalize, stateOf, type Transcript } from "./transcript.ts";

/** What a disturbed performance came to. */
export interface Verdict {
  /** Every difference that must not be: one sentence each. */
  readonly problems: readonly string[];
  readonly comparedEvents: number;
}

/** What a performance is judged by. */
export interface JudgeOptions {
  readonly undisturbed: Played;
  /** Where the agent has left the traces of its steps. */
  readonly dataDir: string;
  /** Whether a turn may have been begun so often that it was given up. Default false. */
  readonly mayGiveUp?: boolean;
}

/** Compares what was seen of a disturbed performance with an undisturbed one. */
export function judge(played: Played, { undisturbed, dataDir, mayGiveUp = false }: JudgeOptions): Verdict {
  const problems = [...played.problems];
  let comparedEvents = 0;
  for (const [command, expected] of undisturbed.transcripts) {
    const transcript = played.transcripts.get(command);
    if (transcript === undefined) {
      problems.push(`${command} was not played`);
      continue;
    }
    comparedEvents += transcript.events.length;
    const found = [...findOddities(transcript), ...judgeTranscript(command, transcript, expected, mayGiveUp)];
    problems.push(...found.map((problem) => `${command}: ${problem}`));
  }
  problems.push(...judgeEffects(played, dataDir));
  return { problems, comparedEvents };
}

/** What makes a performance the measure of others: every task ended as it was meant to, and nothing was odd. */
export function findFaults({ transcripts, problems }: Played): readonly string[] {
  return [
    ...problems,
    ...[...transcripts].flatMap(([command, transcript]) => {
      const last = transcript.events.at(-1);
      const meant = command === "sleep" ? TaskState.CANCELED : TaskState.COMPLETED;
      const ended = last !== undefined && stateOf(last) === meant;
      return [...findOddities(transcript), ...(ended ? [] : [`${command} ended otherwise`])];
    }),
  ];
}

/** What a crash may show of each kind of executor. */
export function judgeTranscript(
  command: Command,
  transcript: Transcript,
  expected: Transcript,
  mayGiveUp = false,
): readonly string[] {
  const events = normalize(transcript);
  const whole = normalize(expected);
  switch (command) {
    case "turn":
      return isInterrupted(transcript)
        ? differ(events.slice(0, -1), whole.slice(0, events.length - 1))
        : differ(events, whole);
    case "restart":
      return mayGiveUp && isInterrupted(transcript)
        ? judgeAttempts(events.slice(1, -1), whole.slice(1), false)
        : judgeAttempts(events.slice(1), whole.slice(1), true);
    default:
      return differ(events, whole);
  }
}

/** Attempts follow one another: each is how the turn begins, and the last is all of it, unless that was given up, too. */
function judgeAttempts(
  events: readonly string[],
  attempt: readonly string[],
  isWhole: boolean,
): readonly string[] {
  const starts = events.flatMap((event, index) => (event === attempt[0] ? [index] : []));
  return starts.flatMap((start, at) => {
    const end = starts[at + 1];
    const part = events.slice(start, end);
    return differ(part, end === undefined && isWhole ? attempt : attempt.slice(0, part.length));
  });
}

function isInterrupted({ events }: Transcript): boolean {
  const last = events.at(-1);
  if (last === undefined || last.payload.case !== "statusUpdate" || stateOf(last) !== TaskState.FAILED)
    return false;
  return readLifecycleReport(last.payload.value.status?.message?.metadata).reason === "interrupted";
}

function differ(events: readonly string[], expected: readonly string[]): readonly string[] {
  const at = Array.from({ length: Math.max(events.length, expected.length) }, (_, index) => index).find(
    (index) => events[index] !== expected[index],
  );
  return at === undefined ? [] : [`event ${at + 1} is ${events[at]}, and should be ${expected[at]}`];
}

/** Every step was done, and none again after its result had been stored. */
function judgeEffects({ transcripts }: Played, dataDir: string): readonly string[] {
  const wanted: readonly (readonly [Command, readonly string[]])[] = [
    ["steps", stepNames],
    ["sleep", ["clean up"]],
  ];
  return wanted.flatMap(([command, names]) => {
    const taskId = transcripts.get(command)?.taskId ?? "";
    const { times, repeated } = readEffects(dataDir, taskId);
    return [
      ...names.filter((name) => !times.has(name)).map((name) => `the step ${name} was never done`),
      ...repeated.map((name) => `the step ${name} was done again after it had returned`),
    ];
  });
}
