import type { AgentClient } from "@a2a-connect/client";
import { methods, type RpcMethod } from "@a2a-connect/core";
import { isObject } from "@a2a-connect/core/internal";
import type { AgentInterface } from "@a2a-connect/proto";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { signal, useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { bindingName } from "../content/shown.ts";
import { exchanges } from "../talk/conversation.ts";
import { CallPanel } from "./call-panel.tsx";
import { CommandList } from "./command-list.tsx";
import { canSpeak, WireCall } from "./wire-call.ts";

/** Calls that are shown. */
const maxCalls = 6;

/** Kept while other views are shown. */
const calls = signal<readonly WireCall[]>([]);

/** The same call over each wire, with all that goes over it. */
export function WiresView({ agent }: { readonly agent: AgentClient }): JSX.Element {
  return (
    <div class="page">
      <header class="view-bar">
        <h1>Wires</h1>
        <span class="muted wide-only">The same call over every wire, byte for byte</span>
      </header>
      <div class="column is-wide">
        <CallForm agent={agent} />
        <div class="calls">
          {calls.value.map((call) => (
            <CallPanel key={call.key} call={call} onSubscribe={(to) => subscribe(agent, to)} />
          ))}
        </div>
      </div>
    </div>
  );
}

/** Begins another stream of a call's task beside it, over the next wire. */
function subscribe(agent: AgentClient, call: WireCall): void {
  const wires = wiresOf(agent).filter(canSpeak);
  const at = wires.findIndex(({ protocolBinding }) => protocolBinding === call.wire.protocolBinding);
  const wire = wires[(at + 1) % wires.length] ?? call.wire;
  const beside = new WireCall(methods.subscribeToTask, { id: call.taskId }, wire);
  void beside.run();
  const place = calls.value.indexOf(call) + 1;
  calls.value = calls.value.toSpliced(place, 0, beside).slice(0, maxCalls);
}

/** One interface for each wire: the first of 1.x; else of an older version, if the page can speak it. */
function wiresOf({ card }: AgentClient): readonly AgentInterface[] {
  const isCurrent = ({ protocolVersion }: AgentInterface): boolean => protocolVersion.startsWith("1.");
  const found = new Map<string, AgentInterface>();
  for (const each of card.supportedInterfaces) {
    const name = bindingName(each.protocolBinding);
    const known = found.get(name);
    const isBetter = known === undefined || (isCurrent(each) && !isCurrent(known));
    if (isBetter && (isCurrent(each) || name !== "gRPC")) found.set(name, each);
  }
  return [...found.values()];
}

const operations = Object.values(methods);

function CallForm({ agent }: { readonly agent: AgentClient }): JSX.Element {
  const wires = wiresOf(agent);
  const operation = useSignal<RpcMethod>(methods.sendStreamingMessage);
  const wireName = useSignal(bindingName(wires[0]?.protocolBinding ?? ""));
  const written = useSignal(exampleOf(methods.sendStreamingMessage, agent));
  const problem = useSignal("");
  const wire = wires.find(({ protocolBinding }) => bindingName(protocolBinding) === wireName.value);
  const isSpoken = wire !== undefined && canSpeak(wire);

  const read = (): JsonObject | undefined => {
    try {
      const value = JSON.parse(written.value) as JsonValue;
      if (!isObject(value)) throw new Error("A request is a JSON object.");
      problem.value = "";
      return value;
    } catch (error) {
      problem.value = error instanceof Error ? error.message : String(error);
      return undefined;
    }
  };
  const begin = (chosen: readonly AgentInterface[]): void => {
    const request = read();
    if (request === undefined) return;
    const begun = chosen.map((each) => new WireCall(operation.value, request, each));
    for (const call of begun) void call.run();
    calls.value = [...begun, ...calls.value].slice(0, maxCalls);
  };
  return (
    <form
      class="panel call-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (wire !== undefined) begin([wire]);
      }}
    >
      <div class="call-row">
        <label class="field" for="operation">
          <span>Operation</span>
          <select
            id="operation"
            value={operation.value.name}
            onChange={(event) => {
              const chosen = operations.find(({ name }) => name === event.currentTarget.value);
              if (chosen === undefined) return;
              operation.value = chosen;
              written.value = exampleOf(chosen, agent);
            }}
          >
            {operations.map(({ name }) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <fieldset class="tabs" aria-label="Wire">
          {wires.map(({ protocolBinding }) => {
            const name = bindingName(protocolBinding);
            return (
              <button
                key={name}
                type="button"
                aria-pressed={name === wireName.value}
                onClick={() => {
                  wireName.value = name;
                }}
              >
                {name}
              </button>
            );
          })}
        </fieldset>
      </div>
      <label class="field" for="request">
        <span>Request</span>
        <textarea
          id="request"
          class="is-mono"
          rows={Math.min(14, written.value.split("\n").length)}
          spellcheck={false}
          value={written.value}
          onInput={(event) => {
            written.value = event.currentTarget.value;
          }}
        />
      </label>
      {problem.value === "" ? null : (
        <p class="problem" role="alert">
          {problem.value}
        </p>
      )}
      <div class="call-row">
        {isSpoken ? (
          <button type="submit" class="button is-primary">
            Call over {wireName.value}
          </button>
        ) : (
          <p class="muted">A page cannot speak {wireName.value}: copy a command.</p>
        )}
        <button type="button" class="button" onClick={() => begin(wires.filter(canSpeak))}>
          Call over all {wires.filter(canSpeak).length}
        </button>
      </div>
      {isSpoken || wire === undefined ? null : (
        <CommandList method={operation.value} request={parsed(written.value)} wire={wire} sent={undefined} />
      )}
    </form>
  );
}

function parsed(written: string): JsonObject {
  try {
    const value = JSON.parse(written) as JsonValue;
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

/** A request that works, with the task that was talked of last. */
function exampleOf({ name }: RpcMethod, { card }: AgentClient): string {
  const taskId = exchanges.value.findLast(({ fold }) => fold.taskId !== "")?.fold.taskId ?? "id of a task";
  const [skill] = card.skills.filter(({ examples }) => examples.length > 0).reverse();
  const examples = card.skills.flatMap((each) => each.examples);
  const streamed = examples.find((each) => each.startsWith("stream")) ?? skill?.examples[0] ?? "Hello";
  const text = name === "SendStreamingMessage" ? streamed : (examples[0] ?? "Hello");
  const message = { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text }] };
  const requests: Readonly<Record<string, JsonValue>> = {
    SendMessage: { message },
    SendStreamingMessage: { message },
    ListTasks: { pageSize: 5 },
    GetExtendedAgentCard: {},
    GetTask: { id: taskId, historyLength: 10 },
    CancelTask: { id: taskId },
    SubscribeToTask: { id: taskId },
    CreateTaskPushNotificationConfig: { taskId, url: "https://example.com/webhook" },
  };
  return JSON.stringify(requests[name] ?? { taskId, id: "" }, null, 2);
}
