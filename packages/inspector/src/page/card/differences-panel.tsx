import type { JsonValue } from "@bufbuild/protobuf";
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { shownLine } from "../content/shown.ts";
import { formatDateTime } from "../ui/time.ts";
import { type Difference, findDifferences, rememberCard } from "./seen-cards.ts";

const maxShown = 100;

/** What has changed since this browser last saw another card here. */
export function DifferencesPanel({
  url,
  text,
}: {
  readonly url: string;
  readonly text: string;
}): JSX.Element {
  const { current, previous } = useMemo(() => rememberCard(url, text), [url, text]);
  const differences = useMemo(
    () => (previous === undefined ? [] : findDifferences(JSON.parse(previous.text), JSON.parse(text))),
    [previous, text],
  );
  if (previous === undefined) {
    return (
      <section class="panel">
        <h2>Changes</h2>
        <p class="muted">
          This browser has seen no other card here; the first time was {formatDateTime(current.at)}.
        </p>
      </section>
    );
  }
  return (
    <section class="panel">
      <h2>Changes</h2>
      <p class="muted">
        Since {formatDateTime(current.at)} the card is another one than before ({formatDateTime(previous.at)}
        ).
      </p>
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th>Member</th>
              <th>Before</th>
              <th>Now</th>
            </tr>
          </thead>
          <tbody>
            {differences.slice(0, maxShown).map((each) => (
              <Row key={each.path} difference={each} />
            ))}
          </tbody>
        </table>
      </div>
      {differences.length > maxShown ? <p class="muted">{differences.length - maxShown} more.</p> : null}
    </section>
  );
}

function Row({ difference: { path, before, after } }: { readonly difference: Difference }): JSX.Element {
  return (
    <tr>
      <td>
        <code>{shownLine(path, 200)}</code>
      </td>
      <td class="is-removed">{write(before)}</td>
      <td class="is-added">{write(after)}</td>
    </tr>
  );
}

function write(value: JsonValue | undefined): string {
  return value === undefined ? "–" : shownLine(JSON.stringify(value), 300);
}
