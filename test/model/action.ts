import fc from "fast-check";
import { anyProgram, type Program } from "./program.ts";

/** How an answer to a send is wanted. */
export type How = "blocking" | "immediate" | "stream";

/** The skills of the agent under test: one for each policy. */
export const skills = ["turn", "restart", "queue", "again", "durable", "strict", "narrow"] as const;
/** Id of a skill. */
export type Skill = (typeof skills)[number];

interface Send {
  readonly how: How;
  /** What is done for the message, if a turn is. */
  readonly program: Program;
  /** Relative to now. */
  readonly deadlineMs: number | undefined;
  readonly keyed: boolean;
}

/** Something that a caller, an operator or fate does. `task`, `send` and `stream` pick one of those there are. */
export type Action = (
  | ({ readonly does: "send"; readonly skill: Skill } & Send)
  | ({
      readonly does: "message";
      readonly task: number;
      readonly fits: boolean;
      /** `ifGenerationMatch`: with the generation that the task has, or an older one. */
      readonly match: "now" | "old" | undefined;
    } & Send)
  | { readonly does: "repeat"; readonly send: number; readonly how: How; readonly otherBody: boolean }
  | { readonly does: "cancel"; readonly task: number }
  /** `from`: which event the caller has; undefined: it has none and wants the task. */
  | {
      readonly does: "subscribe";
      readonly task: number;
      readonly from: number | undefined;
      readonly draft: boolean;
    }
  | { readonly does: "hangUp"; readonly stream: number }
  | { readonly does: "get"; readonly task: number }
  | { readonly does: "longPoll"; readonly task: number; readonly old: boolean }
  | { readonly does: "advance"; readonly ms: number }
  /** `writes`: the process dies at that many writes from now, before or after the store has it; 0: now. */
  | {
      readonly does: "crash";
      readonly writes: number;
      readonly when: "before" | "after";
      readonly downMs: number;
      /** The next process dies, too, at its first write but `writes`. */
      readonly again: boolean;
    }
  | { readonly does: "stop"; readonly graceMs: number }
  | { readonly does: "switch"; readonly skill: Skill; readonly on: boolean }
  /** `answers`: writes are done, and nobody is told so. */
  | { readonly does: "break"; readonly what: "all" | "writes" | "answers" }
  | { readonly does: "mend" }
  /** Another server claims the task, and does nothing with it. */
  | { readonly does: "steal"; readonly task: number }
) & {
  /** Whether the next action comes before anything has settled. */
  readonly atOnce: boolean;
};

const atOnce = fc.integer({ min: 0, max: 3 }).map((roll) => roll === 3);
const how = fc.constantFrom("blocking" as const, "immediate" as const, "stream" as const);
const rarely = fc.integer({ min: 0, max: 3 }).map((roll) => roll === 3);
const send = {
  how,
  program: anyProgram,
  deadlineMs: fc.oneof(
    { weight: 12, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.constantFrom(-5, 100, 5_000, 700_000) },
  ),
  keyed: rarely,
  atOnce,
};

const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({ does: fc.constant("send" as const), skill: fc.constantFrom(...skills), ...send }),
  },
  {
    weight: 7,
    arbitrary: fc.record({
      does: fc.constant("message" as const),
      task: fc.nat(5),
      fits: fc.integer({ min: 0, max: 2 }).map((roll) => roll > 0),
      match: fc.constantFrom(undefined, undefined, undefined, "now" as const, "old" as const),
      ...send,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      does: fc.constant("repeat" as const),
      send: fc.nat(3),
      how,
      otherBody: rarely,
      atOnce,
    }),
  },
  { weight: 2, arbitrary: fc.record({ does: fc.constant("cancel" as const), task: fc.nat(5), atOnce }) },
  {
    weight: 3,
    arbitrary: fc.record({
      does: fc.constant("subscribe" as const),
      task: fc.nat(5),
      from: fc.oneof(fc.constant(undefined), fc.nat(12)),
      draft: fc.boolean(),
      atOnce,
    }),
  },
  { weight: 1, arbitrary: fc.record({ does: fc.constant("hangUp" as const), stream: fc.nat(5), atOnce }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant("get" as const), task: fc.nat(5), atOnce }) },
  {
    weight: 1,
    arbitrary: fc.record({ does: fc.constant("longPoll" as const), task: fc.nat(5), old: rarely, atOnce }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      does: fc.constant("advance" as const),
      ms: fc.constantFrom(1, 60, 250, 1_100, 2_500, 11_000, 31_000, 101_000, 601_000, 1_900_000, 700_000_000),
      atOnce: fc.constant(false),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      does: fc.constant("crash" as const),
      writes: fc.nat(4),
      when: fc.constantFrom("before" as const, "after" as const),
      downMs: fc.constantFrom(0, 0, 700, 60_000, 700_000),
      again: rarely,
      atOnce: fc.constant(false),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      does: fc.constant("stop" as const),
      graceMs: fc.constantFrom(0, 1_000),
      atOnce: fc.constant(false),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      does: fc.constant("switch" as const),
      skill: fc.constantFrom(...skills),
      on: fc.boolean(),
      atOnce,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      does: fc.constant("break" as const),
      what: fc.constantFrom("all" as const, "writes" as const, "answers" as const),
      atOnce,
    }),
  },
  { weight: 2, arbitrary: fc.record({ does: fc.constant("mend" as const), atOnce: fc.constant(false) }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant("steal" as const), task: fc.nat(5), atOnce }) },
);

/** What differs from one world to the other. */
export interface Scenario {
  readonly actions: readonly Action[];
  /** Turns of the event loop that a commit takes. */
  readonly latency: number;
  readonly limits: {
    readonly maxTailBytes: number;
    readonly maxUncommitted: number;
    readonly maxRunning: number;
    readonly chunkIntervalMs: number;
    readonly unloadAfterMs: number;
  };
}

/** Any scenario. */
export const anyScenario: fc.Arbitrary<Scenario> = fc.record({
  actions: fc.noBias(fc.array(action, { minLength: 1, maxLength: 20, size: "max" })),
  latency: fc.nat(2),
  limits: fc.record({
    maxTailBytes: fc.constantFrom(1, 300, 100_000),
    maxUncommitted: fc.constantFrom(1, 3, 64),
    maxRunning: fc.constantFrom(1, 2, 50, 50),
    chunkIntervalMs: fc.constantFrom(0, 0, 5),
    unloadAfterMs: fc.constantFrom(1_000, 30_000),
  }),
});

/** A scenario as people read it: a line for each action. */
export function formatScenario({ actions, ...rest }: Scenario): string {
  return [JSON.stringify(rest), ...actions.map((each, at) => `${at}: ${JSON.stringify(each)}`)].join("\n");
}
