import type { ConformanceReport, Result } from "@a2a-connect/conformance/browser";
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import { save } from "../content/download.ts";
import { shown, shownLine } from "../content/shown.ts";
import { explain, type Failure } from "../session/failure.ts";
import { cardSource } from "../session/page-facts.ts";
import { barePageFetch, credentialHeaders } from "../session/page-fetch.ts";
import { FailureNotice } from "../ui/notice.tsx";

/** What has come of a run so far. */
interface Progress {
  readonly done: number;
  readonly total: number;
  readonly failed: number;
  readonly report?: ConformanceReport;
  /** The report as `a2a conformance --format json` writes it. */
  readonly json?: string;
}

/** How long a run may take, in milliseconds. */
const runTimeoutMs = 120_000;

/** Drawn at most so often while results come in, in milliseconds. */
const drawMs = 100;

/** Whether the agent keeps to the protocol: the scenarios of the conformance kit that a page can run. */
export function ConformanceView(): JSX.Element {
  const progress = useSignal<Progress | undefined>(undefined);
  const failure = useSignal<Failure | undefined>(undefined);
  const isQuiet = useSignal(true);
  const left = useMemo(() => new AbortController(), []);
  useEffect(() => () => left.abort(new Error("the view was left")), [left]);
  const run = async (): Promise<void> => {
    failure.value = undefined;
    progress.value = { done: 0, total: 0, failed: 0 };
    try {
      for await (const each of examine(isQuiet.value, left.signal)) progress.value = each;
    } catch (error) {
      if (!left.signal.aborted) failure.value = explain(error);
      progress.value = undefined;
    }
  };
  const { value } = progress;
  const isRunning = value !== undefined && value.report === undefined;
  return (
    <section class="panel">
      <h2>Does it keep to the protocol?</h2>
      <p class="muted">
        Runs what a page can run of the conformance kit, over every wire that a page can speak. For gRPC and
        webhooks: <code>npx a2a-connect conformance</code>.
      </p>
      <div class="choices">
        <button type="button" class="button is-primary" disabled={isRunning} onClick={() => void run()}>
          Examine the agent
        </button>
        <label>
          <input
            type="checkbox"
            checked={isQuiet.value}
            disabled={isRunning}
            onChange={(event) => {
              isQuiet.value = event.currentTarget.checked;
            }}
          />{" "}
          Send it no messages
        </label>
      </div>
      {failure.value === undefined ? null : <FailureNotice failure={failure.value} />}
      {value === undefined ? null : (
        <p role="status">
          <progress max={Math.max(1, value.total)} value={value.done} aria-label="Progress of the run" />{" "}
          {value.done} of {value.total} checks, {value.failed} failed
        </p>
      )}
      {value?.report === undefined ? null : <Report report={value.report} json={value.json ?? ""} />}
    </section>
  );
}

async function* examine(quiet: boolean, signal: AbortSignal): AsyncGenerator<Progress, void> {
  const kit = await import("@a2a-connect/conformance/browser");
  using run = await kit.runConformance(cardSource, {
    fetch: barePageFetch,
    headers: Object.fromEntries(credentialHeaders()),
    quiet,
    runTimeoutMs,
    signal,
  });
  const results: Result[] = [];
  const count = () => ({
    done: results.length,
    total: run.total,
    failed: results.filter(({ outcome }) => outcome === "failed").length,
  });
  let drawnAt = 0;
  for await (const result of run.results()) {
    results.push(result);
    if (performance.now() - drawnAt < drawMs) continue;
    drawnAt = performance.now();
    yield count();
  }
  const report = kit.createReport(run, results);
  yield { ...count(), report, json: masked(JSON.stringify(kit.reportToJson(report), null, 2)) };
}

/** Without the credentials, which requests have, and servers may repeat. */
function masked(text: string): string {
  const secrets = [...credentialHeaders()].map(([, value]) => value.replace(/^\S+ /, ""));
  return secrets.reduce((rest, secret) => rest.replaceAll(secret, "(hidden)"), text);
}

const outcomes = ["passed", "failed", "not-applicable", "not-run"] as const;
const marks = { passed: "✓", failed: "✗", "not-applicable": "–", "not-run": "?" } as const;

function Report({
  report,
  json,
}: {
  readonly report: ConformanceReport;
  readonly json: string;
}): JSX.Element {
  const { tallies, causes, rows, dialect } = report;
  return (
    <>
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th>Measured by A2A {dialect.spec}</th>
              {outcomes.map((outcome) => (
                <th key={outcome}>{outcome.replace("-", " ")}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {Object.entries(tallies).map(([weight, tally]) => (
              <tr key={weight}>
                <td>{weight.toUpperCase()}</td>
                {outcomes.map((outcome) => (
                  <td key={outcome} class="is-number">
                    {tally[outcome]}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {causes.map(({ sentence, weight, places, scenarios, results }) => (
        <details key={sentence} class="wire-exchange">
          <summary>
            <span class={`badge ${weight === "must" ? "is-failed" : ""}`}>{weight.toUpperCase()}</span>{" "}
            {shownLine(masked(sentence), 400)}
            <span class="muted">
              {" "}
              · {results.length} over {[...places].join(", ")}
            </span>
          </summary>
          {[...scenarios].map(({ ids, title }) => (
            <p key={title}>
              <code>{ids.join(" ")}</code> {title}
            </p>
          ))}
          {results[0]?.exchanges.map(({ call, request, answer }, index) => (
            // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keyboard
            <pre key={index} class="code" tabIndex={0}>
              {shown(masked(`${call}\n${request}\n\n${answer}`))}
            </pre>
          ))}
        </details>
      ))}
      <details class="wire-exchange">
        <summary>{rows.length} requirements</summary>
        <div class="scroll">
          <table>
            <tbody>
              {rows.map(({ requirement: { id, level, sentence }, outcomes: found }) => (
                <tr key={id}>
                  <td>
                    <code>{id}</code>
                  </td>
                  <td>{level}</td>
                  <td>{sentence}</td>
                  <td class="is-number">
                    {[...found].map(([place, outcome]) => `${place} ${marks[outcome]}`).join(", ")}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
      <p>
        <button
          type="button"
          class="button small"
          onClick={() => save("conformance.json", [json], "application/json")}
        >
          Download the report
        </button>
      </p>
    </>
  );
}
