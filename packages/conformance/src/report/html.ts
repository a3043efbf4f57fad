import { createHash } from "node:crypto";
import type { CardFact } from "../card-facts.ts";
import type { Exchange } from "../exchange.ts";
import type { Wire } from "../platform.ts";
import { type Place, type Requirement, requirementGroups } from "../requirements.ts";
import type { DialectSign } from "../run/dialect.ts";
import { type Outcome, type Result, requirementsOf, type Weight, weightOf } from "../run/result.ts";
import type { Cause } from "./causes.ts";
import { Markup, markup } from "./markup.ts";
import { pageScript, pageStyle } from "./page-style.ts";
import {
  type ConformanceReport,
  type Failure,
  findFailures,
  placesInOrder,
  type RequirementRow,
  type Tally,
  type Verdict,
  verdictOf,
} from "./report.ts";

/** How a page is made. */
export interface PageOptions {
  /** When the run was made. */
  readonly at: Date;
  /** Whether a `should` that fails counts, too. Default false. */
  readonly strict?: boolean;
}

/** Failures that are shown with what was said. A server that does everything wrong would fill a disk. */
const maxShown = 150;

const placeNames: Readonly<Record<Place, string>> = {
  card: "Agent Card",
  grpc: "gRPC",
  "grpc-web": "gRPC-Web",
  connect: "Connect",
  jsonrpc: "JSON-RPC",
  "http-json": "HTTP+JSON",
};

const outcomes: Readonly<Record<Outcome, readonly [sign: string, words: string]>> = {
  passed: ["✓", "passes"],
  failed: ["✗", "fails"],
  "not-applicable": ["–", "does not apply here"],
  "not-run": ["…", "was not tried: the time was over"],
};

const weights: Readonly<Record<Weight, string>> = {
  must: "The specification demands it. Other programs rely on it.",
  should:
    "The specification recommends it. Or the specification contradicts itself, and this is how we read it.",
  may: "The specification leaves it open, or is silent. A difference is not a fault, but worth knowing.",
};

/** A report as one HTML file that loads nothing. All that came from the server is text in it. */
export function renderPage(report: ConformanceReport, { at, strict = false }: PageOptions): string {
  const { server, failures } = report;
  const name = server.name || server.url;
  const { text } = markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src '${hashOf(pageScript)}'">
<title>A2A conformance of ${name}</title>
<style>${new Markup(pageStyle)}</style>
</head>
<body>
<header>
<h1>A2A conformance of ${name}</h1>
<p class="dim">${server.url}${server.version !== "" && `, version ${server.version}`} · examined on ${at.toISOString().slice(0, 16).replace("T", " at ")} UTC</p>
${verdictBox(report, strict)}
${facts(report)}
${explanation()}
</header>
<section>
<h2>Overview</h2>
${overview(report.tallies)}
</section>
${failures.length > 0 && markup`<section>\n<h2 id="failures">What fails, and how to see it</h2>\n${renderFailures(report)}</section>`}
${dialectSection(report)}
<section>
<h2>Every requirement, on every wire</h2>
<p>${legend()}</p>
${matrix(report)}
</section>
${notesSection(report.results)}
${leftOutSection(report.results)}
<script>${new Markup(pageScript)}</script>
</body>
</html>
`;
  return text;
}

function hashOf(script: string): string {
  return `sha256-${createHash("sha256").update(script).digest("base64")}`;
}

function verdictBox(report: ConformanceReport, strict: boolean): Markup {
  const verdict = verdictOf(report, strict);
  const { must, should, may } = report.tallies;
  const words: Readonly<Record<Verdict, string>> = {
    passed: `It conforms: all ${must.passed} checks of what A2A demands pass.`,
    failed:
      must.failed > 0
        ? `It does not conform: ${counted(must.failed, "check")} of what A2A demands ${must.failed === 1 ? "fails" : "fail"}.`
        : `It does not conform strictly: ${counted(should.failed, "check")} of what A2A recommends ${should.failed === 1 ? "fails" : "fail"}.`,
    incomplete: "This says little: not everything could be tried.",
  };
  const beside = [
    should.failed > 0 && (must.failed > 0 || !strict)
      ? `${counted(should.failed, "check")} of what it recommends ${should.failed === 1 ? "fails" : "fail"}.`
      : "",
    may.failed > 0
      ? `In ${counted(may.failed, "check")} of what it leaves open, the server does something unusual.`
      : "",
  ].filter((sentence) => sentence !== "");
  return markup`<div class="verdict ${verdict}"><strong>${words[verdict]}</strong>${beside.length > 0 && markup`<p>${beside.join(" ")}</p>`}</div>`;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

function facts({ server, agent, dialect }: ConformanceReport): Markup {
  const names = (wires: readonly Wire[]) => wires.map((wire) => placeNames[wire]).join(", ");
  return markup`<dl>
<dt>Wires in its card</dt><dd>${names(server.wires)}</dd>
${server.undeclared.length > 0 && markup`<dt>Not in its card</dt><dd>${names(server.undeclared)}: not examined</dd>`}
<dt>Its card declares</dt><dd>${abilities(server.facts)}</dd>
<dt>${dialect.isGiven ? "Measured by" : "Speaks"}</dt><dd>A2A ${dialect.spec}</dd>
<dt>Known of it</dt><dd>${
    agent === "reference"
      ? "it is the reference agent, so everything that its commands can cause was tried"
      : "only its card, so only what every agent has to do was tried"
  }</dd>
</dl>`;
}

/** What a server has, and what it does not have and has to refuse. */
function abilities(facts: ReadonlySet<CardFact>): string {
  const all = [
    ["streaming", "streaming"],
    ["push", "push notifications"],
    ["extended-card", "an extended card"],
  ] as const;
  const list = (isThere: boolean) =>
    all.filter(([fact]) => facts.has(fact) === isThere).map(([, words]) => words);
  const [has, lacks] = [list(true), list(false)];
  const lacking =
    lacks.length > 0 ? `no ${lacks.map((words) => words.replace(/^an /, "")).join(", no ")}` : "";
  return [...has, ...(lacking === "" ? [] : [lacking])].join(", ");
}

function explanation(): Markup {
  return markup`<details><summary>How to read this page</summary>
<p>A2A (Agent2Agent) is a protocol by which programs talk to agents. Its specification is a list of <em>requirements</em>. It can
be spoken over several <em>wires</em>: ways to put the same messages into bytes, such as JSON-RPC or gRPC. The server says in its
<em>Agent Card</em> which of them it has.</p>
<p>A <em>check</em> is one conversation with the server over one wire that shows whether requirements are met. An identifier such
as <code>A-1</code> names a requirement in this report; § is the section of the
<a href="https://a2a-protocol.org/latest/specification/" rel="noreferrer">specification</a> that it is from.</p>
<p>Commands to copy are for a shell. <code>curl</code> comes with most systems; <code>buf curl</code> is of the npm package
<code>@bufbuild/buf</code>, and asks the server for its schema: where it does not tell, add <code>--schema</code> with the folder of A2A's
proto.</p>
${weightList()}
</details>`;
}

function weightList(): Markup {
  return markup`<dl>${(["must", "should", "may"] as const).map(
    (weight) => markup`<dt>${badge(weight)}</dt><dd>${weights[weight]}</dd>`,
  )}</dl>`;
}

function badge(weight: Weight): Markup {
  return markup`<span class="weight ${weight}">${weight.toUpperCase()}</span>`;
}

function overview(tallies: Readonly<Record<Weight, Tally>>): Markup {
  const kinds: readonly Outcome[] = ["passed", "failed", "not-run", "not-applicable"];
  const heads = ["pass", "fail", "not tried", "do not apply"];
  return markup`<div class="wide"><table><thead><tr><th>Checks of what A2A</th>${heads.map((head) => markup`<th class="mark">${head}</th>`)}</tr></thead>
<tbody>${(
    [
      ["must", "demands"],
      ["should", "recommends"],
      ["may", "leaves open"],
    ] as const
  ).map(
    ([weight, words]) =>
      markup`<tr><td>${words} ${badge(weight)}</td>${kinds.map((kind) => {
        const count = tallies[weight][kind];
        return markup`<td class="mark"><span class="sign ${count > 0 ? kind : "not-applicable"}">${count}</span></td>`;
      })}</tr>\n`,
  )}</tbody></table></div>`;
}

/** From how many scenarios on failures with one cause are told together. */
const manyScenarios = 4;

function isWide({ scenarios }: Cause): boolean {
  return scenarios.size >= manyScenarios;
}

/** The failures without those that are told as one cause. */
function findOthers({ causes }: ConformanceReport): Failure[] {
  return findFailures(causes.filter((cause) => !isWide(cause)).flatMap(({ results }) => results));
}

/** An article for each cause with many failures, and for each set of requirements. */
function renderFailures(report: ConformanceReport): Markup {
  const { server, agent, causes } = report;
  let shown = 0;
  const command = `a2a conformance ${server.url}${agent === "reference" ? " --agent reference" : ""}`;
  const wide = causes.filter(isWide);
  return markup`${wide.map((cause, index) => renderCause(cause, `cause-${index}`, command))}${[
    ...groupFailures(findOthers(report)),
  ].map(([anchor, each]) => {
    const rest = Math.max(maxShown - shown, 0);
    const isFirst = shown === 0;
    shown += each.flatMap(({ results }) => results).length;
    return renderGroup(anchor, each, command, { rest, isFirst });
  })}${shown > maxShown && markup`<p class="dim">Only the first ${maxShown} are shown with requests and answers; <code>--only</code> chooses others.</p>`}`;
}

/** By the anchor of the article that they are shown in. */
function groupFailures(failures: readonly Failure[]): ReadonlyMap<string, readonly Failure[]> {
  return Map.groupBy(failures, ({ scenario }) => `fails-${scenario.ids.join("-")}`);
}

/** What is the same in many checks, once, and the checks. */
function renderCause({ sentence, weight, places, results }: Cause, anchor: string, command: string): Markup {
  const [first] = results;
  const [id] = first?.scenario.ids ?? [];
  return markup`<article id="${anchor}">
<p>${badge(weight)} <span class="dim">${namesOf(places)}</span></p>
<p class="demand">${counted(results.length, "check")} fail in the same way, probably for one reason.</p>
<p class="seen">${sentence}</p>
${first !== undefined && conversation(first, true)}
<details><summary>What was checked</summary>
<ul>${findFailures(results).map(
    ({ scenario, results: each }) =>
      markup`<li>${scenario.title} <span class="dim">${scenario.ids.join(", ")}: ${namesOf(new Set(each.map(({ place }) => place)))}</span>${[...new Set(each.map((result) => result.sentence))].filter((said) => said !== sentence).map((said) => markup`<br><span class="seen">${said}</span>`)}</li>\n`,
  )}</ul></details>
<p class="dim">Run one of them again: <code>${command} --only ${id}</code></p>
</article>
`;
}

function namesOf(places: ReadonlySet<Place>): string {
  return placesInOrder
    .filter((place) => places.has(place))
    .map((place) => placeNames[place])
    .join(", ");
}

function renderGroup(
  anchor: string,
  failures: readonly Failure[],
  command: string,
  { rest, isFirst }: { readonly rest: number; readonly isFirst: boolean },
): Markup | undefined {
  const [first] = failures;
  if (first === undefined) return undefined;
  const { scenario, weight } = first;
  const failed = new Set(failures.flatMap(({ results }) => results.map(({ place }) => place)));
  let left = rest;
  return markup`<article id="${anchor}">
<p>${badge(weight)} <span class="dim">${namesOf(failed)}</span></p>
${requirementsOf(scenario).map(
  (requirement) =>
    markup`<p class="demand">${prose(requirement.sentence)} <span class="dim">${referenceOf(requirement)}</span></p>`,
)}
${failures.map((failure, index) => {
  const shown = left;
  left = Math.max(left - failure.results.length, 0);
  return renderFailure(failure, shown, isFirst && index === 0);
})}
<p class="dim">Run it again: <code>${command} --only ${scenario.ids[0]}</code></p>
</article>
`;
}

function renderFailure({ scenario, results }: Failure, shown: number, isOpen: boolean): Markup {
  const sentences = Map.groupBy(results, ({ sentence }) => sentence);
  return markup`<p>Checked: a server that conforms ${scenario.title}.</p>
${[...sentences].map(
  ([sentence, each]) =>
    markup`<p class="seen">${sentences.size > 1 && markup`<strong>${each.map(({ place }) => placeNames[place]).join(", ")}:</strong> `}${sentence}</p>\n`,
)}
${results.slice(0, shown).map((result, at) => conversation(result, isOpen && at === 0))}`;
}

/** Our own sentences have names between backticks. */
function prose(sentence: string): Markup {
  return markup`${sentence.split("`").map((piece, index) => (index % 2 === 1 ? markup`<code>${piece}</code>` : piece))}`;
}

function referenceOf({ id, source }: Requirement): string {
  const sections = source.map((each) => (/^\d/.test(each) ? `§${each}` : each));
  return sections.length === 0 ? id : `${id}, ${sections.join(", ")}`;
}

function conversation({ place, exchanges }: Result, isOpen: boolean): Markup {
  const last = exchanges.at(-1);
  if (last === undefined) return markup`<p class="dim">${placeNames[place]}: nothing was sent.</p>`;
  const before = exchanges.slice(0, -1);
  return markup`<details${isOpen && markup` open`}><summary>${placeNames[place]}: ${last.call.replace(/ over [a-z-]+$/, "")}</summary>
${renderExchange(last)}
${before.length > 0 && markup`<details><summary>What went before</summary>${before.map((each) => markup`<p><code>${each.call}</code></p>${renderExchange(each)}`)}</details>`}
</details>`;
}

function renderExchange({ command, request, answer }: Exchange): Markup {
  return markup`${command !== undefined && markup`<p class="label">The same by hand</p><div class="command"><pre>${command}</pre><button type="button">Copy</button></div>`}
<div class="sides">
<div><p class="label">Request</p><pre>${pretty(request)}</pre></div>
<div><p class="label">Response</p><pre>${answer === "" ? "(nothing came)" : pretty(answer)}</pre></div>
</div>`;
}

/** JSON in several lines, where a line is JSON. */
function pretty(text: string): string {
  return text
    .split("\n")
    .map((line) => {
      const [, prefix = "", json = ""] = /^((?:data: ?)?)([{[].*)$/.exec(line) ?? [];
      try {
        return json === "" ? line : prefix + JSON.stringify(JSON.parse(json), undefined, 2);
      } catch {
        return line; // it was cut
      }
    })
    .join("\n")
    .trim();
}

function dialectSection({ dialect }: ConformanceReport): Markup {
  const say = ({ what, seen, spec }: DialectSign) =>
    markup`<li>${what}: <code>${seen}</code>, ${spec === undefined ? "as neither says" : `as ${spec} says`}</li>`;
  return markup`<section>
<h2>Which text of A2A 1.0 it speaks</h2>
<p>The two published texts of A2A 1.0, 1.0.0 and 1.0.1, have the same messages. They differ in a few error numbers and in the media
type of HTTP+JSON. ${dialect.isGiven ? `The server was measured by ${dialect.spec}, as you asked.` : `A server may speak either, and this one speaks ${dialect.spec}; the numbers of the other text would not count as failures.`}</p>
${
  dialect.signs.length === 0
    ? markup`<p>No answer showed a difference between them.</p>`
    : markup`<ul>${dialect.signs.map(say)}</ul>`
}
</section>`;
}

function legend(): Markup {
  return markup`${(Object.keys(outcomes) as Outcome[]).map(
    (outcome) => markup`${sign(outcome)} ${outcomes[outcome][1]} &nbsp; `,
  )}empty: nothing to check there`;
}

function sign(outcome: Outcome): Markup {
  const [character, words] = outcomes[outcome];
  return markup`<span class="sign ${outcome}" title="${words}">${character}</span>`;
}

function matrix(report: ConformanceReport): Markup {
  const { rows, server } = report;
  const declared = new Set<Place>(["card", ...server.wires]);
  const anchors = findAnchors(report);
  const groups = Map.groupBy(rows, ({ requirement }) => requirement.id.replace(/-.*/, ""));
  return markup`${[...groups].map(([letter, each]) => {
    const failed = each.filter((row) => [...row.outcomes.values()].includes("failed")).length;
    const tried = each.filter(isTried);
    const idle = each.filter((row) => !isTried(row));
    const places = placesInOrder.filter(
      (place) => declared.has(place) && tried.some(({ outcomes: seen }) => seen.has(place)),
    );
    return markup`<details${failed > 0 && markup` open`}><summary>${letter}: ${requirementGroups[letter]} <span class="dim">${
      tried.length === 0 ? "nothing applies here" : `${counted(tried.length, "requirement")} checked`
    }</span>${failed > 0 && markup`, <span class="sign failed">${failed} not met</span>`}</summary>
${
  tried.length > 0 &&
  markup`<div class="wide"><table><thead><tr><th colspan="3">Requirement</th>${places.map((place) => markup`<th class="mark">${placeNames[place]}</th>`)}</tr></thead>
<tbody>${tried.map((row) => matrixRow(row, places, anchors))}</tbody></table></div>`
}
${
  idle.length > 0 &&
  markup`<p class="dim">Nothing here applies to this server: ${idle.map(({ requirement }) => requirement.id).join(", ")}.</p>`
}
</details>
`;
  })}`;
}

function isTried({ outcomes: each }: RequirementRow): boolean {
  return [...each.values()].some((outcome) => outcome !== "not-applicable");
}

/** Where the first failure of a requirement in a place is told. */
function findAnchors(report: ConformanceReport): ReadonlyMap<string, string> {
  const told = [
    ...report.causes.filter(isWide).map(({ results }, index) => [`cause-${index}`, results] as const),
    ...[...groupFailures(findOthers(report))].map(
      ([anchor, each]) => [anchor, each.flatMap(({ results }) => results)] as const,
    ),
  ];
  const anchors = new Map<string, string>();
  for (const [anchor, results] of told) {
    for (const key of results.flatMap(({ place, scenario }) => scenario.ids.map((id) => `${id} ${place}`))) {
      if (!anchors.has(key)) anchors.set(key, anchor);
    }
  }
  return anchors;
}

function matrixRow(
  { requirement, outcomes: each }: RequirementRow,
  places: readonly Place[],
  anchors: ReadonlyMap<string, string>,
): Markup {
  const { id, source, sentence } = requirement;
  const sections = source.filter((section) => /^\d/.test(section)).map((section) => `§${section}`);
  return markup`<tr><td class="id">${id}</td><td>${badge(weightOf(requirement))}</td><td class="grow">${prose(sentence)} <span class="dim">${sections.join(", ")}</span></td>${places.map(
    (place) => {
      const outcome = each.get(place);
      const anchor = anchors.get(`${id} ${place}`);
      const mark = outcome === undefined ? undefined : sign(outcome);
      return markup`<td class="mark">${anchor === undefined ? mark : markup`<a class="sign" href="#${anchor}">${mark}</a>`}</td>`;
    },
  )}</tr>
`;
}

function notesSection(results: readonly Result[]): Markup | undefined {
  const notes = new Map<string, Set<Place>>();
  for (const { place, notes: each } of results) {
    for (const note of each) notes.set(note, (notes.get(note) ?? new Set()).add(place));
  }
  if (notes.size === 0) return undefined;
  return markup`<section>
<h2>Good to know</h2>
<ul>${[...notes].slice(0, maxShown).map(([note, places]) => markup`<li>${note} <span class="dim">${[...places].map((place) => placeNames[place]).join(", ")}</span></li>\n`)}</ul>
</section>`;
}

function leftOutSection(results: readonly Result[]): Markup | undefined {
  const reasons = new Map<string, number>();
  for (const { outcome, sentence } of results) {
    if (outcome === "not-applicable" || outcome === "not-run") {
      reasons.set(sentence, (reasons.get(sentence) ?? 0) + 1);
    }
  }
  if (reasons.size === 0) return undefined;
  const sorted = [...reasons].toSorted(([, one], [, other]) => other - one).slice(0, maxShown);
  return markup`<section>
<h2>What was not checked, and why</h2>
<table><thead><tr><th>Reason</th><th class="mark">Checks</th></tr></thead>
<tbody>${sorted.map(([reason, count]) => markup`<tr><td>${reason}</td><td class="count">${count}</td></tr>\n`)}</tbody></table>
</section>`;
}
