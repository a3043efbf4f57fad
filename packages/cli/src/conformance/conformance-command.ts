import type {
  CannotExamine,
  Cause,
  ConformanceOptions,
  ConformanceReport,
  ConformanceRun,
  Outcome,
  Place,
  Result,
  Tally,
  Weight,
} from "@a2a-connect/conformance";
import { findCallHeaders } from "../agent/credential-places.ts";
import { CliError, usageError } from "../cli-error.ts";
import type { CommandContext } from "../context.ts";
import { defined } from "../json.ts";
import type { Output } from "../output.ts";
import { formatDuration } from "../settings/values.ts";
import { maskSettings } from "../wire-log/masking.ts";
import { replaceFile } from "../write-file.ts";

export interface ConformanceFlags {
  readonly wire?: readonly Place[];
  readonly only?: readonly string[];
  readonly agent: "any" | "reference";
  readonly spec?: "1.0.0" | "1.0.1";
  readonly strict?: boolean;
  readonly html?: string;
  readonly junit?: string;
  readonly badge?: string;
  readonly concurrency: number;
  readonly scenarioTimeout: number;
  readonly runTimeout: number;
}

/**
 * Examines a server, prints what it finds as it finds it, writes the reports that are asked for, and exits with 1 when the server
 * does not conform.
 */
export async function runConformanceCommand(
  context: CommandContext,
  given: string | undefined,
  flags: ConformanceFlags,
): Promise<void> {
  const { io, output, settings, signal } = context;
  context.needReader();
  if (settings.insecure) {
    throw usageError(
      "this command has no --insecure",
      "to trust the server's certificate, set NODE_EXTRA_CA_CERTS=ca.pem in the environment",
    );
  }
  const agent = await context.locate(given);
  const { reference } = agent;
  if (reference.kind !== "url") {
    throw usageError(`${reference.path} is a file; conformance examines a server`, "give a host or a URL");
  }
  const agentSettings = await context.withhold(agent);
  const kit = await import("@a2a-connect/conformance");
  const { strict = false, wire: places, only, spec } = flags;
  const options: ConformanceOptions = {
    agent: flags.agent,
    ...defined({ places, only, spec }),
    headers: (card) => findCallHeaders(card, agentSettings),
    concurrency: flags.concurrency,
    scenarioTimeoutMs: flags.scenarioTimeout,
    runTimeoutMs: flags.runTimeout,
    signal,
  };
  using run = await kit.runConformance(reference.url, options).catch((error: unknown) => {
    throw error instanceof kit.CannotExamine ? toCliError(error, flags) : error;
  });
  await printHead(output, run, kit.placesInOrder);
  const mask = maskSettings(agentSettings).text;
  const results: Result[] = [];
  const isNewCause = kit.createCauseMemory();
  let failed = 0;
  try {
    for await (const received of run.results()) {
      const result = maskResult(received, mask);
      results.push(result);
      await output.event(kit.resultToJson(result));
      if (result.outcome === "failed") {
        failed += 1;
        if (isNewCause(result) || output.verbose) {
          await output.field("Failed", describe(result, kit.weightOfScenario(result.scenario)), "red");
        }
        if (output.verbose) await output.block("Said", kit.formatExchanges(result.exchanges));
      }
      await output.progress(`${results.length} of ${run.total} checks, ${failed} failed`);
    }
  } finally {
    await output.progress(undefined);
  }
  const report = kit.createReport(run, results);
  const verdict = kit.verdictOf(report, strict);
  if (verdict !== "passed") context.exitWith(1);
  const { html, junit, badge } = flags;
  if (html) await replaceFile(html, kit.renderPage(report, { at: new Date(), strict }), io);
  if (junit) await replaceFile(junit, kit.renderJunit(report), io);
  if (badge) await replaceFile(badge, kit.renderBadge(report, strict), io);
  const columns = kit.placesInOrder.filter((place) =>
    places === undefined ? place === "card" || run.server.addresses.has(place) : places.includes(place),
  );
  await output.block("Passed", formatCheckTable(results, kit.requirementGroups, columns).join("\n"));
  await printEnd(output, report, verdict, flags);
  if (output.format === "json") {
    const { results: all, ...rest } = kit.reportToJson(report, strict);
    await output.document(output.streaming ? { report: rest } : { ...rest, results: all });
  }
}

const codes = {
  unreachable: "A2ACLI_ERR_UNREACHABLE",
  "no-card": "A2ACLI_ERR_CARD_NOT_FOUND",
  "invalid-card": "A2ACLI_ERR_CARD_INVALID",
  asked: "A2ACLI_ERR_USAGE",
} as const;

function toCliError({ why, message, cause }: CannotExamine, { only }: ConformanceFlags): CliError {
  const asked = only === undefined ? "check --wire" : "check --only and --wire";
  const hint = why === "asked" ? asked : "a2a doctor says what is wrong with it";
  return new CliError(codes[why], message, { hint, cause });
}

/** Credentials that a server repeats, or that a request has. */
function maskResult(result: Result, mask: (text: string) => string): Result {
  return {
    ...result,
    sentence: mask(result.sentence),
    notes: result.notes.map(mask),
    exchanges: result.exchanges.map(({ call, request, answer, command }) => ({
      call: mask(call),
      request: mask(request),
      answer: mask(answer),
      command: command === undefined ? undefined : mask(command),
    })),
  };
}

async function printHead(
  output: Output,
  { server, dialect }: ConformanceRun,
  placesInOrder: readonly Place[],
): Promise<void> {
  const { name } = server.card;
  const wires = placesInOrder.filter((place) => place !== "card" && server.addresses.has(place));
  const others = dialect.signs.filter(({ spec }) => spec !== dialect.spec);
  const why = dialect.isGiven
    ? "as asked for"
    : dialect.signs.length > 0
      ? "which the server speaks"
      : "by default";
  const but = others.map(({ what, seen, spec }) => `; ${what} is ${seen}${spec ? ` (${spec})` : ""}`);
  await output.fields({
    Agent: typeof name === "string" && name !== "" ? `${name} at ${server.url}` : server.url,
    Wires: wires.join(", "),
    Specification: `A2A ${dialect.spec}, ${why}${but.join("")}`,
  });
}

/** A failure in one line. The title says what the server should do, so it is quoted. */
function describe({ scenario, place, sentence }: Result, weight: Weight): string {
  return shorten(
    `${scenario.ids.join(" ")} (${weight.toUpperCase()}) over ${place}: "${scenario.title}": ${sentence}`,
  );
}

/** Reports have all of it. */
function shorten(line: string): string {
  return line.length > 400 ? `${line.slice(0, 400)}…` : line;
}

/** Requirements that are named beside a cause. Reports have all of them. */
const maxIds = 20;

/** Failures that were not told one by one. */
function describeCause({ sentence, places, scenarios, results }: Cause): string {
  const ids = [...new Set([...scenarios].flatMap((scenario) => scenario.ids))];
  const named =
    ids.slice(0, maxIds).join(" ") + (ids.length > maxIds ? ` and ${ids.length - maxIds} more` : "");
  return `${results.length} checks over ${[...places].join(", ")} fail like this: ${shorten(sentence)} (${named})`;
}

async function printEnd(
  output: Output,
  { tallies, causes, results }: ConformanceReport,
  verdict: "passed" | "failed" | "incomplete",
  { html, runTimeout }: ConformanceFlags,
): Promise<void> {
  const shared = causes.filter((each) => each.results.length > 1 && !output.verbose);
  const all = results.flatMap(({ notes, place }) => notes.map((note) => ({ note, place })));
  const notes = [...Map.groupBy(all, ({ note }) => note)].map(
    ([note, noted]) => `${note} (${[...new Set(noted.map(({ place }) => place))].join(", ")})`,
  );
  await output.fields({
    "Same cause": shared.map(describeCause),
    Note: notes,
    MUST: describeTally(tallies.must),
    SHOULD: describeTally(tallies.should),
    MAY: describeTally(tallies.may),
  });
  const isCut = Object.values(tallies).some((tally) => tally["not-run"] > 0);
  const verdicts = {
    passed: "conforms",
    failed: "does not conform",
    incomplete: isCut
      ? `some checks were not run within ${formatDuration(runTimeout)} (--run-timeout)`
      : "none of the requested checks could be tried",
  } as const;
  await output.field("Verdict", verdicts[verdict]);
  if (causes.length > 0 && html === undefined && !output.verbose) {
    await output.note(
      "hint: --html report.html shows the requests and answers, with commands to copy; --verbose prints them",
    );
  }
}

function describeTally({ passed, failed, "not-run": notRun, "not-applicable": idle }: Tally): string {
  const cut = notRun > 0 ? `, ${notRun} not run` : "";
  return `${passed} passed, ${failed} failed${cut}, ${idle} do not apply`;
}

/** Characters of a row's title. */
const titleWidth = 22;

/**
 * Lines of a table: what has passed, and what has not, by group of requirements and place; `–` where nothing applies.
 *
 * @param titles of the groups, by the letter that their requirements begin with
 * @param places the columns
 */
function formatCheckTable(
  results: readonly Result[],
  titles: Readonly<Record<string, string>>,
  places: readonly Place[],
): string[] {
  const groups = Map.groupBy(results, ({ scenario: { ids } }) => ids[0]?.replace(/-.*/, "") ?? "");
  const rows = Object.entries(titles).flatMap(([letter, title]) => {
    const group = groups.get(letter);
    if (group === undefined) return [];
    const cells = places.map((place) =>
      formatCell(group.filter((result) => result.place === place)).padStart(widthOf(place)),
    );
    return [`${`${letter} ${title}`.slice(0, titleWidth).padEnd(titleWidth)}${cells.join("")}`];
  });
  const head = places.map((place) => place.padStart(widthOf(place))).join("");
  return [`${" ".repeat(titleWidth)}${head}`, ...rows];
}

function formatCell(results: readonly Result[]): string {
  const count = (wanted: Outcome) => results.filter(({ outcome }) => outcome === wanted).length;
  const [passed, failed] = [count("passed"), count("failed")];
  if (failed > 0) return `${passed} ✗${failed}`;
  if (passed > 0) return `${passed}`;
  return count("not-run") > 0 ? "…" : "–";
}

function widthOf(place: Place): number {
  return Math.max(place.length, 6) + 2;
}
