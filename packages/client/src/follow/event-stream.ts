import { eventIdHeader } from "@a2a-connect/bindings";
import { type EventIds, eventIdsKey } from "@a2a-connect/bindings/client";
import type { StreamResponse } from "@a2a-connect/proto";
import { type CallOptions, Code, ConnectError, createContextValues } from "@connectrpc/connect";
import type { ClientClock } from "../clock.ts";
import { SilenceError } from "../platform.ts";
import { SilenceWatch } from "./silence-watch.ts";
import type { NumberedResponse } from "./task-tracker.ts";

/** Options for one connection. */
export interface EventStreamOptions {
  readonly signal: AbortSignal;
  readonly clock: ClientClock;
  /** Silence after which the connection is ended. */
  readonly idleTimeoutMs: number;
}

/**
 * The messages of one connection, with numbers: the response's header has the number of the first message, and each
 * later one is one more (docs/streams.md). If server-sent events have ids of their own, those count.
 *
 * @param call opens the connection
 * @throws ConnectError Unavailable after `idleTimeoutMs` of silence; the error of the call
 */
export async function* readEventStream(
  call: (options: CallOptions) => AsyncIterable<StreamResponse>,
  { signal, clock, idleTimeoutMs }: EventStreamOptions,
): AsyncGenerator<NumberedResponse, void> {
  const watch = new SilenceWatch(clock, idleTimeoutMs);
  const ids: EventIds = { last: "" };
  const over = new AbortController();
  let next: number | undefined;
  let lastGeneration = 0n;
  try {
    const messages = call({
      signal: AbortSignal.any([signal, watch.signal, over.signal]),
      contextValues: createContextValues().set(eventIdsKey, ids),
      onHeader: (header) => {
        next = parseId(header.get(eventIdHeader));
        watch.heard();
      },
    });
    for await (const response of messages) {
      watch.pause(); // the time that the caller takes is not silence of the server
      const id = next === undefined ? undefined : (parseId(ids.last) ?? next);
      const generation = generationOf(response);
      const repeatsGeneration = isUpdate(response) && generation > 0n && generation === lastGeneration;
      yield { response, id, repeatsGeneration };
      lastGeneration = generation;
      next = id === undefined ? undefined : id + 1;
      watch.heard();
    }
  } catch (error) {
    if (watch.signal.aborted && !signal.aborted) {
      const silence = new SilenceError("nothing was heard", { cause: error });
      throw new ConnectError(
        `the server was silent for ${idleTimeoutMs} ms`,
        Code.Unavailable,
        undefined,
        undefined,
        silence,
      );
    }
    throw error;
  } finally {
    watch.stop();
    over.abort(isLeft); // Connect's streams have no return(): to leave early, abort the call
  }
}

/** An abort without a reason creates one each time, with a stack. */
const isLeft = new Error("the stream was left");

/** Whether an error ended a silent connection. */
export function isSilence(error: unknown): boolean {
  return error instanceof ConnectError && error.cause instanceof SilenceError;
}

/** The number in an event of A2A 1.1; 0 for none. */
function generationOf({ payload }: StreamResponse): bigint {
  return payload.case === undefined || payload.case === "message" ? 0n : payload.value.generation;
}

/** A server may send the same Task again; an update is always new. */
function isUpdate({ payload }: StreamResponse): boolean {
  return payload.case === "statusUpdate" || payload.case === "artifactUpdate";
}

function parseId(value: string | null): number | undefined {
  return value !== null && /^\d{1,15}$/.test(value) ? Number(value) : undefined;
}
