import { eventIdHeader } from "@a2a-connect/bindings";
import { isSettled, isTerminal } from "@a2a-connect/core";
import { lastEventIdHeader } from "@a2a-connect/core/internal";
import {
  type SendMessageRequestSchema,
  type StreamResponse,
  StreamResponseSchema,
  TaskState,
} from "@a2a-connect/proto";
import type { A2AClient } from "@a2a-connect/testing";
import { type MessageInitShape, toJsonString } from "@bufbuild/protobuf";
import type { CallOptions } from "@connectrpc/connect";
import { FalseEnd, type Service } from "./service.ts";

/** What a caller has seen of a task: every event from its creation on, in order. */
export interface Transcript {
  readonly taskId: string;
  readonly events: readonly StreamResponse[];
  /** How often its stream was opened. */
  readonly streams: number;
}

/** Over which wire a task is followed, and from where. */
export interface FollowOptions {
  readonly wire: string;
  /** What has been seen already. Default: nothing. */
  readonly seen?: Transcript;
  /** Where to stop. Default: at the end of the task. */
  readonly until?: (event: StreamResponse) => boolean;
}

/**
 * Sends a message with its own key and reads the stream to the first settled state, over as many connections as it takes.
 * It goes on by the same request, with the id of the last event.
 */
export async function sendAndFollow(
  service: Service,
  request: MessageInitShape<typeof SendMessageRequestSchema>,
  {
    wire,
    key,
    onEvent = () => {},
  }: { readonly wire: string; readonly key: string; readonly onEvent?: (event: StreamResponse) => void },
): Promise<Transcript> {
  const until = (event: StreamResponse) => {
    onEvent(event);
    return isSettled(stateOf(event));
  };
  return read(service, wire, undefined, until, (client, options, { events }) =>
    client.sendStreamingMessage(request, {
      ...options,
      headers: { "idempotency-key": key, ...(events.length === 0 ? {} : lastEventId(events)) },
    }),
  );
}

/** Reads a task from where the caller has got to, over as many connections as it takes. */
export async function follow(
  service: Service,
  taskId: string,
  { wire, seen = { taskId, events: [], streams: 0 }, until = isEnd }: FollowOptions,
): Promise<Transcript> {
  return read(service, wire, seen, until, (client, options, { events }) =>
    client.subscribeToTask({ id: taskId }, { ...options, headers: lastEventId(events) }),
  );
}

type Open = (
  client: A2AClient,
  options: CallOptions,
  seen: Pick<Transcript, "events">,
) => AsyncIterable<StreamResponse>;

async function read(
  service: Service,
  wire: string,
  seen: Transcript | undefined,
  until: (event: StreamResponse) => boolean,
  open: Open,
): Promise<Transcript> {
  const events = [...(seen?.events ?? [])];
  let streams = seen?.streams ?? 0;
  await service.persist(wire, async (client) => {
    const enough = new AbortController();
    const onHeader = (header: Headers) => {
      // The id of the first event to come, where one comes: whoever counts on from it misses nothing.
      const id = header.get(eventIdHeader);
      if (id !== null && id !== String(events.length + 1)) {
        throw new Error(`a stream said that it begins with event ${id}, after ${events.length}`);
      }
    };
    streams += 1;
    for await (const event of open(client, { signal: enough.signal, onHeader }, { events })) {
      events.push(event);
      if (until(event)) {
        enough.abort();
        return;
      }
    }
    const last = events.at(-1);
    if (last === undefined || !isEnd(last))
      throw new FalseEnd(`a stream ended after ${events.length} events`);
  });
  const [first] = events;
  if (first?.payload.case !== "task") throw new Error("a transcript begins with the creation of its task");
  return { taskId: first.payload.value.id, events, streams };
}

function lastEventId(events: readonly StreamResponse[]): Record<string, string> {
  return { [lastEventIdHeader]: String(events.length) };
}

/** The state that an event brings its task to. */
export function stateOf({ payload }: StreamResponse): TaskState {
  const status =
    payload.case === "task" || payload.case === "statusUpdate" ? payload.value.status : undefined;
  return status?.state ?? TaskState.UNSPECIFIED;
}

function isEnd(event: StreamResponse): boolean {
  return isTerminal(stateOf(event));
}

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/**
 * Transcripts of one kind of work as they compare: without what is another in every run, which is ids, times and dice.
 * That a dice shows the same wherever a transcript names it, is seen here.
 */
export function normalize({ taskId, events }: Transcript): readonly string[] {
  const dice = new Map<string, string>();
  return events.map((event) =>
    toJsonString(StreamResponseSchema, event)
      .replaceAll(taskId, "TASK")
      .replaceAll(uuid, "ID")
      .replaceAll(/"timestamp":"[^"]+"/g, '"timestamp":"TIME"')
      .replaceAll(/"contextId":"[^"]+"/g, '"contextId":"CONTEXT"')
      .replaceAll(/dice [\d.e-]+/g, (thrown) => {
        dice.set(thrown, dice.get(thrown) ?? `dice ${dice.size + 1}`);
        return dice.get(thrown) ?? thrown;
      }),
  );
}

/** What no transcript may have: a message twice, or a status that is older than the one before it (requirement B-9). */
export function findOddities({ events }: Transcript): readonly string[] {
  const odd: string[] = [];
  const ids = new Set<string>();
  let newest = 0n;
  for (const [index, { payload }] of events.entries()) {
    const status =
      payload.case === "task" || payload.case === "statusUpdate" ? payload.value.status : undefined;
    if (status === undefined) continue;
    const id = status.message?.messageId;
    if (id !== undefined && ids.has(id)) odd.push(`event ${index + 1} has the message of an earlier one`);
    if (id !== undefined) ids.add(id);
    const { seconds = 0n, nanos = 0 } = status.timestamp ?? {};
    const at = seconds * 1_000_000_000n + BigInt(nanos);
    if (at < newest) odd.push(`event ${index + 1} is older than the one before it`);
    newest = at;
  }
  return odd;
}
