import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { bindingName, formatBytes, shown, shownLine } from "../content/shown.ts";
import { Icon } from "../ui/icon.tsx";
import { FailureNotice } from "../ui/notice.tsx";
import { formatDuration } from "../ui/time.ts";
import { bodyText, hexText } from "./body-text.ts";
import { CommandList } from "./command-list.tsx";
import type { Exchange } from "./recording.ts";
import type { WireCall } from "./wire-call.ts";

/** A call: what it brought, and each request that it took. */
export function CallPanel({
  call,
  onSubscribe,
}: {
  readonly call: WireCall;
  /** Begins another stream of the same task, to be compared with this one. */
  readonly onSubscribe: (call: WireCall) => void;
}): JSX.Element {
  const exchanges = call.recording.shown.value.current;
  const { count, gaps, messages } = call.shown.value.current.outcome;
  const isOpen = call.isOpen.value;
  const open = exchanges.findLast((each) => each.isOpen);
  const failure = call.failure.value;
  const last = messages.at(-1);
  return (
    <section
      class="panel call"
      aria-label={`${call.method.name} over ${bindingName(call.wire.protocolBinding)}`}
    >
      <header class="call-row">
        <h2>
          {call.method.name} <span class="tag">{bindingName(call.wire.protocolBinding)}</span>
        </h2>
        <span class="grow" />
        {isOpen && call.taskId !== "" ? (
          <button type="button" class="button small" onClick={() => onSubscribe(call)}>
            Add a subscriber
          </button>
        ) : null}
        {isOpen && call.method.streaming ? (
          <button
            type="button"
            class="button small is-warning"
            disabled={open === undefined}
            onClick={() => open?.cut()}
          >
            <Icon name="cut" />
            Cut the connection
          </button>
        ) : null}
        {isOpen ? (
          <button type="button" class="button small quiet" onClick={() => call.leave()}>
            <Icon name="stop" />
            Stop
          </button>
        ) : null}
      </header>
      {call.method.streaming ? (
        <p role="status">
          <strong>{count.toLocaleString("en")}</strong> {count === 1 ? "event" : "events"} over{" "}
          {exchanges.length} {exchanges.length === 1 ? "connection" : "connections"}
          {last?.id === undefined ? "" : `; the last one is number ${last.id}`}.{" "}
          {exchanges.length > 1 && count > 0 && gaps === 0 ? "None is missing, none came twice." : ""}
          {gaps > 0 ? `The numbers jump ${gaps} times.` : ""}
        </p>
      ) : null}
      {failure === undefined ? null : <FailureNotice failure={failure} />}
      {exchanges.map((exchange, index) => (
        <ExchangeRow key={index} call={call} exchange={exchange} version={versionOf(exchange)} />
      ))}
      <details>
        <summary>Commands that make this call</summary>
        <CommandList method={call.method} request={call.request} wire={call.wire} sent={exchanges[0]} />
      </details>
    </section>
  );
}

type Side = "request" | "response";

/** Changes with what is shown of an exchange: views with the same properties are not drawn again. */
function versionOf({ chunks, status, endMs }: Exchange): string {
  return `${chunks} ${status} ${endMs}`;
}

function ExchangeRow({
  call,
  exchange,
  version,
}: {
  readonly call: WireCall;
  readonly exchange: Exchange;
  readonly version: string;
}): JSX.Element {
  const { method, url, status, headMs, endMs, bytes, chunks, failure } = exchange;
  return (
    <details class="wire-exchange">
      <summary>
        <span class="tag">{method}</span> <code class="address">{shownLine(new URL(url).pathname, 120)}</code>{" "}
        <span class="muted">
          {status ?? "…"}
          {headMs === undefined ? "" : ` · first byte after ${formatDuration(headMs)}`}
          {endMs === undefined ? " · open" : ` · ${formatDuration(endMs)}`} · {formatBytes(bytes)} in {chunks}{" "}
          pieces
          {resumedAfter(exchange)}
        </span>{" "}
        {failure === "cut" ? <span class="badge is-failed">cut</span> : null}
      </summary>
      <div class="sides">
        <BodyPanel call={call} exchange={exchange} side="request" version={version} />
        <BodyPanel call={call} exchange={exchange} side="response" version={version} />
      </div>
    </details>
  );
}

function resumedAfter({ requestHeaders }: Exchange): string {
  const id = requestHeaders.get("last-event-id");
  return id === null ? "" : ` · resumes after event ${id}`;
}

function BodyPanel({
  call,
  exchange,
  side,
}: {
  readonly call: WireCall;
  readonly exchange: Exchange;
  readonly side: Side;
  readonly version: string;
}): JSX.Element {
  const isHex = useSignal(false);
  const isRequest = side === "request";
  const headers = isRequest ? exchange.requestHeaders : (exchange.responseHeaders ?? new Headers());
  const body = isRequest ? exchange.requestBody : exchange.responseBody;
  const messages = isHex.value
    ? [hexText(body)]
    : bodyText(body, headers.get("content-type") ?? "", call.method, isRequest ? "input" : "output");
  return (
    <div class="side">
      <div class="command-head">
        <strong>{isRequest ? "Request" : "Response"}</strong>
        <button
          type="button"
          class="button small quiet"
          aria-pressed={isHex.value}
          onClick={() => {
            isHex.value = !isHex.value;
          }}
        >
          Bytes
        </button>
      </div>
      <dl class="headers">
        {[...headers].map(([name, value]) => (
          <div key={name}>
            <dt>{shownLine(name, 80)}</dt>
            <dd>{isSecret(name) ? "(hidden)" : shownLine(value, 300)}</dd>
          </div>
        ))}
      </dl>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keyboard */}
      <div class="bodies" tabIndex={0}>
        {messages.slice(-maxMessages).map((message, index) => (
          <pre key={index} class="code">
            {shown(message.slice(0, maxLength))}
          </pre>
        ))}
      </div>
    </div>
  );
}

/** Messages of a stream that are shown, and how much of each. */
const maxMessages = 20;
const maxLength = 8_000;

function isSecret(name: string): boolean {
  return /authorization|cookie|key|token/i.test(name) && name !== "idempotency-key";
}
