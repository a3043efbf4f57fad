import { untilAborted } from "@a2a-connect/core/internal";
import type { Exchange } from "../exchange.ts";
import { explainFailure } from "../explain.ts";
import type { Platform } from "../platform.ts";
import type { Place, SpecVersion } from "../requirements.ts";
import { runScenario } from "../run-scenario.ts";
import type { ScenarioGroup } from "../scenario.ts";
import { NotApplicable, refuseMessage } from "../scenario.ts";
import { CannotExamine, type FindOptions, type FoundServer, findServer } from "../target.ts";
import { type KnownAgent, whyNotApplicable } from "./applies.ts";
import { chooseScenarios } from "./choose.ts";
import { type Dialect, findDialect } from "./dialect.ts";
import type { Outcome, Result } from "./result.ts";

/** How a server is examined. */
export interface ConformanceOptions extends FindOptions {
  /** Default `any`: only what every agent has to do is tried. */
  readonly agent?: KnownAgent;
  /** Wires, and `card`. Default: all that the card declares, and the card. */
  readonly places?: readonly Place[];
  /** Ids, groups or levels of requirements (`chooseScenarios`). Default all. */
  readonly only?: readonly string[];
  /** The text of A2A 1.0 to measure by, where they differ. Default: either will do, and notes say which it is. */
  readonly spec?: SpecVersion;
  /** Sends no message to the agent: what needs one does not apply. Default false. */
  readonly quiet?: boolean;
  /** Scenarios at a time. Default 4. */
  readonly concurrency?: number;
  /** For each scenario, in milliseconds. Default 10 000. One that takes longer has failed. */
  readonly scenarioTimeoutMs?: number;
  /** For all together, in milliseconds. Default 60 000. What has not ended by then is `not-run`. */
  readonly runTimeoutMs?: number;
  /** Ends the run: its results end with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** A run that has begun. Iterate over it once, to its end, and dispose of it. */
export interface ConformanceRun extends Disposable {
  readonly server: FoundServer;
  readonly agent: KnownAgent;
  readonly dialect: Dialect;
  /** How many results there will be. */
  readonly total: number;
  /**
   * The results, as they come; those that do not apply first.
   *
   * @throws the signal's reason when it is aborted
   */
  results(): AsyncGenerator<Result, void>;
}

const defaultScenarioTimeoutMs = 10_000;

/** Exchanges that a failure is shown with. */
const shownExchanges = 3;

/** What can be done with servers on a platform. */
export interface Kit {
  /**
   * Reads the card of a server.
   *
   * @param url the agent's, such as `http://localhost:4000`, or its card's
   * @throws CannotExamine when there is no card, or when it declares no wire of version 1.0 that scenarios can speak
   */
  findServer(url: string, options?: FindOptions): Promise<FoundServer>;
  /**
   * Reads the card of a server, sees which dialect it speaks, and gets ready to run each scenario over each wire.
   *
   * @param url the agent's, such as `http://localhost:4000`, or its card's
   * @throws CannotExamine when there is no card, when it declares no wire that can be examined, or when what is asked for is not there
   */
  runConformance(url: string, options?: ConformanceOptions): Promise<ConformanceRun>;
}

/** @param scenarios those that the platform can run, by file and in the order of the requirements */
export function createKit(platform: Platform, scenarios: Readonly<Record<string, ScenarioGroup>>): Kit {
  return {
    findServer: (url, options) => findServer(platform, url, options),
    runConformance: (url, options) => prepare({ platform, groups: Object.values(scenarios) }, url, options),
  };
}

async function prepare(
  { platform, groups }: { readonly platform: Platform; readonly groups: readonly ScenarioGroup[] },
  url: string,
  options: ConformanceOptions = {},
): Promise<ConformanceRun> {
  const { agent = "any", only = [], scenarioTimeoutMs = defaultScenarioTimeoutMs, signal } = options;
  const isChosen = chooseScenarios(only);
  const server = await findServer(platform, url, options);
  try {
    const places = choosePlaces(server, options.places);
    using limit = startLimit(scenarioTimeoutMs);
    const beforeMessage = options.quiet === true ? refuseMessage : undefined;
    const target = server.target({ signal: within(signal, limit.signal), beforeMessage });
    const dialect = await findDialect(target, places, options.spec);
    signal?.throwIfAborted();
    const plan = groups.flatMap(({ title, scenarios }) =>
      scenarios
        .filter(isChosen)
        .flatMap((scenario) =>
          scenario.places
            .filter((place) => places.has(place))
            .map((place): Planned => ({ scenario, group: title, place })),
        ),
    );
    return {
      server,
      agent,
      dialect,
      total: plan.length,
      results: () => runPlan(plan, { server, agent, dialect }, options),
      [Symbol.dispose]: () => server[Symbol.dispose](),
    };
  } catch (error) {
    server[Symbol.dispose]();
    throw error;
  }
}

/** @throws CannotExamine for a wire that the card does not declare */
function choosePlaces(
  { addresses, url }: FoundServer,
  wanted: readonly Place[] | undefined,
): ReadonlySet<Place> {
  const declared = new Set<Place>(["card", ...addresses.keys()]);
  const missing = wanted?.find((place) => !declared.has(place));
  if (missing !== undefined) {
    throw new CannotExamine(
      "asked",
      `the card of ${url} declares no ${missing}; it has ${[...addresses.keys()].join(", ")}`,
    );
  }
  return wanted === undefined ? declared : new Set(wanted);
}

/** A scenario in one place, to be run. */
type Planned = Pick<Result, "scenario" | "group" | "place">;

async function* runPlan(
  plan: readonly Planned[],
  run: Pick<ConformanceRun, "server" | "agent" | "dialect">,
  {
    concurrency = 4,
    scenarioTimeoutMs = defaultScenarioTimeoutMs,
    runTimeoutMs = 60_000,
    quiet = false,
    signal,
  }: ConformanceOptions,
): AsyncGenerator<Result, void> {
  const applicable: Planned[] = [];
  for (const planned of plan) {
    const reason = whyNotApplicable(planned.scenario, planned.place, run.server, run.agent);
    if (reason === undefined) applicable.push(planned);
    else yield toResult(planned, "not-applicable", reason);
  }
  using limit = startLimit(runTimeoutMs);
  const ended = within(signal, limit.signal);
  const running = new Map<Planned, Promise<Result>>();
  try {
    for (let next = 0; next < applicable.length || running.size > 0; ) {
      const planned = applicable[next];
      if (planned !== undefined && running.size < concurrency) {
        next += 1;
        const one = ended.aborted
          ? Promise.resolve(toResult(planned, "not-run", outOfTime(runTimeoutMs)))
          : runOne(planned, run, { ended, scenarioTimeoutMs, runTimeoutMs, quiet });
        running.set(planned, one);
        continue;
      }
      const result = await Promise.race(running.values());
      signal?.throwIfAborted();
      for (const each of running.keys()) if (isOf(result, each)) running.delete(each);
      yield result;
    }
  } finally {
    limit.end();
    await Promise.all(running.values());
  }
}

/** A time limit that keeps the process alive: what a scenario waits for may not. */
interface Limit extends Disposable {
  /** Aborted when the time is over, or `end` was called. */
  readonly signal: AbortSignal;
  end(): void;
}

function startLimit(ms: number): Limit {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(new Error("the time is over")), ms);
  return {
    signal: controller.signal,
    end: () => controller.abort(new Error("the run has ended")),
    [Symbol.dispose]: () => clearTimeout(timer),
  };
}

const isOf = (result: Result, { scenario, place }: Planned): boolean =>
  result.scenario === scenario && result.place === place;

const outOfTime = (runTimeoutMs: number): string =>
  `The ${runTimeoutMs / 1000} s for the whole run were over.`;

/** When a scenario has to end, and what it may not do. */
interface Limits {
  /** Aborted when the whole run is over. */
  readonly ended: AbortSignal;
  readonly scenarioTimeoutMs: number;
  readonly runTimeoutMs: number;
  readonly quiet: boolean;
}

async function runOne(
  planned: Planned,
  { server, dialect }: Pick<ConformanceRun, "server" | "dialect">,
  { ended, scenarioTimeoutMs, runTimeoutMs, quiet }: Limits,
): Promise<Result> {
  const { scenario, place } = planned;
  const exchanges: Exchange[] = [];
  const notes: string[] = [];
  using late = startLimit(scenarioTimeoutMs);
  const signal = AbortSignal.any([late.signal, ended]);
  const startedAt = performance.now();
  const conclude = (outcome: Outcome, sentence = ""): Result => ({
    ...toResult(planned, outcome, sentence),
    notes: [...new Set(notes.map(explainFailure))],
    exchanges: outcome === "failed" ? exchanges.slice(-shownExchanges) : [],
    durationMs: Math.round(performance.now() - startedAt),
  });
  try {
    const scenarioRun = runScenario(scenario, place, server, {
      exchanges,
      notes,
      signal,
      ...(dialect.isGiven ? { spec: dialect.spec } : {}),
      quiet,
    });
    await untilAborted(scenarioRun, signal);
    return conclude("passed");
  } catch (error) {
    if (ended.aborted) return conclude("not-run", outOfTime(runTimeoutMs));
    if (late.signal.aborted) {
      const last = exchanges.at(-1)?.call;
      return conclude(
        "failed",
        `It took longer than ${scenarioTimeoutMs / 1000} s${last === undefined ? "" : `; the last call was ${last}`}.`,
      );
    }
    const sentence = explainFailure(error);
    return error instanceof NotApplicable
      ? conclude("not-applicable", `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`)
      : conclude("failed", sentence);
  }
}

function toResult(planned: Planned, outcome: Outcome, sentence: string): Result {
  return { ...planned, outcome, sentence, notes: [], exchanges: [], durationMs: 0 };
}

function within(signal: AbortSignal | undefined, limit: AbortSignal): AbortSignal {
  return signal === undefined ? limit : AbortSignal.any([signal, limit]);
}
