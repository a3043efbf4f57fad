import type { StreamResponse } from "@a2a-connect/proto";

/** About the memory for the objects of one event, beside its bytes: for small events they are the larger part. */
const objectBytes = 512;

/** An event that has been committed. All its readers get the same objects, and must not change them. */
export class CommittedEvent {
  /** Also its event id (docs/streams.md). */
  readonly generation: number;
  readonly response: StreamResponse;
  /** Size of its binary encoding. */
  readonly bytes: number;
  #numbered: StreamResponse | undefined;

  constructor(generation: number, response: StreamResponse, bytes: number) {
    this.generation = generation;
    this.response = response;
    this.bytes = bytes;
  }

  /** About its size in memory. */
  get weight(): number {
    return this.bytes + objectBytes;
  }

  /** The event for callers of A2A 1.1, with its generation; made when the first of them reads it (requirement R-1). */
  get numberedResponse(): StreamResponse {
    this.#numbered ??= numberResponse(this.response, BigInt(this.generation));
    return this.#numbered;
  }
}

function numberResponse(response: StreamResponse, generation: bigint): StreamResponse {
  const { payload } = response;
  switch (payload.case) {
    case "task":
      return { ...response, payload: { case: "task", value: { ...payload.value, generation } } };
    case "statusUpdate":
      return { ...response, payload: { case: "statusUpdate", value: { ...payload.value, generation } } };
    case "artifactUpdate":
      return { ...response, payload: { case: "artifactUpdate", value: { ...payload.value, generation } } };
    case "message":
    case undefined:
      return response;
  }
}
