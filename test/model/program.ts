import fc from "fast-check";

/** One thing that an executor does. Times are milliseconds of the fake clock. */
export type Op =
  /** WORKING; without words it says nothing new. */
  | { readonly does: "working"; readonly words: boolean }
  | { readonly does: "artifact"; readonly id: string; readonly last: boolean; readonly big: boolean }
  | {
      readonly does: "chunk";
      readonly id: string;
      readonly continued: boolean;
      readonly last: boolean;
      readonly big: boolean;
    }
  /** Its own code takes time; `deaf`: without looking at its signal. */
  | { readonly does: "wait"; readonly ms: number; readonly deaf: boolean }
  | { readonly does: "throw" }
  /** Something the engine does not take; `caught`: the executor goes on. */
  | { readonly does: "mistake"; readonly caught: boolean }
  | { readonly does: "complete" | "fail" | "reject" | "reply" }
  /** A question; `false` waits for ever. With choices, an answer may not fit. */
  | {
      readonly does: "ask" | "auth";
      readonly timeoutMs: number | false | undefined;
      readonly choices: boolean;
    }
  /** A step that fails a number of times before it works. */
  | {
      readonly does: "step";
      readonly ms: number;
      readonly fails: number;
      readonly retries: number;
      readonly caught: boolean;
    }
  | { readonly does: "sleep"; readonly ms: number }
  | { readonly does: "take" | "poll" | "now" | "random" };

/** What an executor does for one message. */
export interface Program {
  readonly ops: readonly Op[];
  /** When it is told to stop: `obey` ends at once, `cleanUp` does something more first, `stubborn` goes on. */
  readonly onAbort: "obey" | "cleanUp" | "stubborn";
}

const big = fc.integer({ min: 0, max: 5 }).map((roll) => roll === 5);

const op: fc.Arbitrary<Op> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ does: fc.constant("working" as const), words: fc.boolean() }) },
  {
    weight: 2,
    arbitrary: fc.record({
      does: fc.constant("artifact" as const),
      id: fc.constantFrom("a", "b"),
      last: fc.boolean(),
      big,
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      does: fc.constant("chunk" as const),
      id: fc.constantFrom("a", "b", "c"),
      continued: fc.boolean(),
      last: fc.integer({ min: 0, max: 7 }).map((roll) => roll === 7),
      big,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      does: fc.constant("wait" as const),
      ms: fc.constantFrom(1, 50, 300, 1_500, 20_000, 3_600_000),
      deaf: fc.integer({ min: 0, max: 3 }).map((roll) => roll === 3),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      does: fc.constantFrom("ask" as const, "ask" as const, "auth" as const),
      timeoutMs: fc.constantFrom(undefined, undefined, 5_000, false as const),
      choices: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      does: fc.constant("step" as const),
      ms: fc.constantFrom(0, 0, 50, 2_000),
      fails: fc.constantFrom(0, 0, 1, 3),
      retries: fc.constantFrom(0, 2),
      caught: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      does: fc.constant("sleep" as const),
      ms: fc.constantFrom(0, 40, 900, 5_000, 100_000),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      does: fc.constantFrom("take" as const, "poll" as const, "now" as const, "random" as const),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      does: fc.constantFrom("complete" as const, "fail" as const, "reject" as const, "reply" as const),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ does: "throw" as const }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant("mistake" as const), caught: fc.boolean() }) },
);

/** Any program. */
export const anyProgram: fc.Arbitrary<Program> = fc.record({
  ops: fc.array(op, { maxLength: 7 }),
  onAbort: fc.constantFrom("obey" as const, "obey" as const, "cleanUp" as const, "stubborn" as const),
});

/** What an event says of where it comes from: the message whose program was run, the place in it, and which run. */
export interface Label {
  readonly program: string;
  /** `3`: what op 3 emits; `3q`: its question; `3a`: what it gave. */
  readonly place: string;
  /** Numbers all runs of all executors, in the order in which they began. */
  readonly run: number;
  /** What the op gave. */
  readonly value: string | undefined;
}

/** A label as the text of an event. */
export function formatLabel({ program, place, run, value }: Label): string {
  return `[${program}/${place}/${run}${value === undefined ? "" : `=${value}`}]`;
}

/** The label in a text; undefined when the engine has written it. */
export function parseLabel(text: string): Label | undefined {
  const match = /\[([^/\]]+)\/(\d+[qa]?)\/(\d+)(?:=([^\]]*))?\]/.exec(text);
  if (match === null) return undefined;
  const [, program = "", place = "", run = "", value] = match;
  return { program, place, run: Number(run), value };
}

/** The places of all that a program emits when nothing comes between: what is in a log is the beginning of it. */
export function placesOf({ ops }: Program, durable: boolean): readonly string[] {
  return ops.flatMap((each, at) => placesOfOp(each, at, durable));
}

function placesOfOp({ does, ...op }: Op, at: number, durable: boolean): readonly string[] {
  switch (does) {
    case "working":
      return "words" in op && op.words ? [`${at}`] : [];
    case "artifact":
    case "chunk":
    case "complete":
    case "fail":
    case "reject":
    case "reply":
      return [`${at}`];
    case "ask":
    case "auth":
      return durable ? [`${at}q`, `${at}a`] : [`${at}q`];
    case "step":
    case "take":
    case "poll":
    case "now":
    case "random":
      return durable ? [`${at}a`] : [];
    case "wait":
    case "sleep":
    case "throw":
    case "mistake":
      return [];
  }
}
