import { nextSlice } from "@a2a-connect/bindings/server";
import { json, lifecycleExtension } from "@a2a-connect/core";
import {
  effectiveMediaType,
  isLarge,
  joinBytes,
  matchesMediaType,
  maxIdLength,
  mergeMembers,
  sha256Hex,
  toJsonValue,
} from "@a2a-connect/core/internal";
import { type Artifact, type Part, TaskState } from "@a2a-connect/proto";
import type { JsonObject, Message } from "@bufbuild/protobuf";
import canonicalize from "canonicalize";
import type { ArtifactEvent, StatusEvent } from "../agent/task-event.ts";
import { AgentMistake, describeValue } from "./agent-mistake.ts";
import { artifactEvent } from "./events.ts";
import type { LiveTask } from "./live-task.ts";
import { weighMessage } from "./memory-weight.ts";
import { assertArtifact, assertMessage, assertParts } from "./output-check.ts";
import { DecodingTurns } from "./read-task.ts";
import type { EngineWakes } from "./wakes.ts";

/** See `nextSlice`. */
type NextSlice = (caller: string | undefined, hasBegun?: "has begun") => Promise<void>;

/** Makes events of a task from what its executor yields, by the rules that all executors share. */
export class Emitter {
  /** Media types that the skill may produce. */
  readonly #outputModes: readonly string[];
  readonly #maxBytes: number;
  /** The task; a turn creates it when this is first called. */
  readonly #live: () => LiveTask;
  readonly #nextSlice: NextSlice;
  readonly #begun = new Set<string>();

  /**
   * @param maxBytes that one event may take, about
   * @param waitForSlice what an artifact of many values waits for; tests count that
   */
  constructor(
    outputModes: readonly string[],
    maxBytes: number,
    live: () => LiveTask,
    waitForSlice: NextSlice = nextSlice,
  ) {
    this.#outputModes = outputModes;
    this.#maxBytes = maxBytes;
    this.#live = live;
    this.#nextSlice = waitForSlice;
  }

  /** @throws AgentMistake when the event is not allowed */
  status({ state, parts, report }: StatusEvent): void {
    if (state === TaskState.INPUT_REQUIRED || state === TaskState.AUTH_REQUIRED) {
      assertParts(parts, "a question");
    }
    assertMessage({ parts, report }, "a status", this.#maxBytes);
    this.#live().emitStatus({ state, parts, report });
  }

  /**
   * @returns undefined, or a promise: the last event of an artifact gets a digest, and a large one waits for room, and for slices where it
   *   has JSON
   * @throws AgentMistake when the event is not allowed; or the promise rejects with it
   */
  artifact(event: ArtifactEvent): Promise<void> | undefined {
    const { artifactId, parts } = event.artifact;
    assertId(artifactId);
    const shown = event.data === undefined ? parts : [anyData];
    assertParts(shown, `artifact "${artifactId}"`);
    const bytes = this.#check(event);
    this.#assertOutputModes(shown);
    if (bytes > largeBytes || event.last) return this.#takeSlowly(event, bytes);
    this.#emit(event, withData(event));
    return undefined;
  }

  /** @returns what it takes in memory, at least */
  #check(content: Pick<ArtifactEvent, "artifact" | "data">): number {
    return assertArtifact(content, `artifact "${content.artifact.artifactId}"`, this.#maxBytes);
  }

  /**
   * The executor may have changed its data, parts and metadata during each wait, so they are checked again in the turns in which they are
   * converted and encoded.
   *
   * @param bytes what it takes in memory, at least
   */
  async #takeSlowly(event: ArtifactEvent, bytes: number): Promise<void> {
    const live = this.#live();
    const room = bytes > largeBytes ? await live.output.reserve(bytes) : undefined;
    try {
      const inPieces = bytes > slowBytes && hasJson(event);
      const { share } = live.memory;
      if (inPieces) await this.#nextSlice(share);
      live.assertOpen(); // its executor may have been given up meanwhile
      const held = this.#check(event);
      room?.resize(held);
      const artifact = withData(event);
      let hasBegun: "has begun" | undefined = inPieces ? "has begun" : undefined;
      const nextPiece = (): Promise<void> => {
        const slice = this.#nextSlice(share, hasBegun);
        hasBegun = "has begun"; // what was copied of this one is held until its last piece
        return slice;
      };
      const seals = event.last && !this.#isReopened(event);
      const emitted = seals ? await this.#seal(event, artifact, nextPiece) : artifact;
      if (inPieces) await nextPiece(); // converted, it takes several times as much memory
      live.assertOpen();
      // The part that was made of data is the engine's own.
      this.#check({ artifact: event.data === undefined ? emitted : { ...emitted, parts: [] } });
      this.#emit(event, emitted);
    } finally {
      room?.free();
    }
  }

  /** @param nextPiece what further pieces of its content wait for */
  async #seal(event: ArtifactEvent, artifact: Artifact, nextPiece: () => Promise<void>): Promise<Artifact> {
    const live = this.#live();
    const earlier = this.#isAppended(event) ? await live.artifactParts(artifact.artifactId) : [];
    const content = await readContent([...earlier, ...artifact.parts], nextPiece);
    return withMetadata(artifact, await sealOf(content, event.replaceable));
  }

  #emit(event: ArtifactEvent, artifact: Artifact): void {
    const { last, replaceable } = event;
    const live = this.#live();
    const content = this.#isReopened(event) ? withMetadata(artifact, reopened) : artifact;
    const response = artifactEvent(live.name, content, this.#isAppended(event), last);
    this.begin(artifact.artifactId);
    live.emitArtifact(response, { replaceable });
  }

  #isAppended({ mode, artifact }: ArtifactEvent): boolean {
    return mode === "continued" || (mode === "chunk" && this.#begun.has(artifact.artifactId));
  }

  /**
   * Whether it goes on with an artifact that was sealed. That loses its digest: executors may mark each chunk as the last one, and to
   * read all earlier parts for each of them would take the square of their number. The last chunk of an artifact that may not go on
   * seals it once more.
   */
  #isReopened(event: ArtifactEvent): boolean {
    const isFinal = event.last && !event.replaceable;
    return !isFinal && this.#isAppended(event) && this.#live().wasSealed(event.artifact.artifactId);
  }

  /** This execution has begun the artifact: further chunks are added to it. */
  begin(artifactId: string): void {
    this.#begun.add(artifactId);
  }

  #assertOutputModes(parts: readonly Part[]): void {
    const type = parts
      .map(effectiveMediaType)
      .find((candidate) => !this.#outputModes.some((mode) => matchesMediaType(mode, candidate)));
    if (type !== undefined) {
      throw new AgentMistake(`the agent sent ${type}, but declares only ${this.#outputModes.join(", ")}`);
    }
  }
}

/** An agent may name artifacts by what its caller sends, and the engine finds them by their ids. */
function assertId(id: string): void {
  if (id.length > maxIdLength) {
    const shown = JSON.stringify(`${id.slice(0, 40)}…`);
    throw new AgentMistake(
      `the id of artifact ${shown} has ${id.length} characters; at most ${maxIdLength} are taken`,
    );
  }
}

/** A part with data that has not been made yet. */
const anyData = json(null);

/** @throws AgentMistake for data that is not JSON */
function withData({ artifact, data }: ArtifactEvent): Artifact {
  if (data === undefined) return artifact;
  try {
    return { ...artifact, parts: [json(data)] };
  } catch (error) {
    throw new AgentMistake(`artifact "${artifact.artifactId}": ${(error as Error).message}`);
  }
}

/** In memory. Hundreds of executors may put out as much at the same moment: their tasks count it only when it is encoded. */
const largeBytes = 256 * 1024;

/** The same, of values of JSON: to convert or encode them takes a few milliseconds. */
const slowBytes = 1024 * 1024;

function hasJson({ artifact, data }: ArtifactEvent): boolean {
  const { metadata, parts } = artifact;
  const hasOwn = (part: Part) => part.content.case === "data" || part.metadata !== undefined;
  return data !== undefined || metadata !== undefined || parts.some(hasOwn);
}

/** To check and encode less takes a fraction of a millisecond. */
const quickBytes = 8 * 1024;

/**
 * What an executor's event waits for before it is taken; undefined: nothing. Hundreds of executors may have waited for the same, and each
 * then puts out what it has at once.
 */
export function turnToTake(
  wakes: EngineWakes,
  yielded: unknown,
  share: string | undefined,
): Promise<void> | undefined {
  return isObject(yielded) && !isQuick(yielded) ? wakes.executors.turn(share) : undefined;
}

/** What cannot be weighed, because it is nested too deep, is refused later. */
function isQuick(yielded: object): boolean {
  try {
    return !isLarge(yielded as Message, quickBytes); // it need not be an event
  } catch {
    return false;
  }
}

/** Whether what plain JavaScript may have yielded is an event that a tool of the executor has made. */
export function isEvent(yielded: unknown, kinds: readonly string[]): boolean {
  return isObject(yielded) && "kind" in yielded && kinds.some((kind) => kind === yielded.kind);
}

/** @throws AgentMistake for a value that is no such event */
export function assertEvent(yielded: unknown, kinds: readonly string[]): void {
  if (!isEvent(yielded, kinds)) {
    throw new AgentMistake(
      `the executor yielded ${describeValue(yielded)}, which is no event; ${howToYield(yielded)}`,
    );
  }
}

function howToYield(yielded: unknown): string {
  if (isObject(yielded) && Symbol.asyncIterator in yielded) {
    return 'write "yield*" to pass on the events of another generator, such as ask(…)';
  }
  return "yield what the executor's tools return, such as artifact({ text: … })";
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/**
 * The content of an artifact: the parts' bytes one after the other: text and url as UTF-8, raw as it is, data as RFC 8785 JSON
 * (docs/extensions/lifecycle.md). Callers may have sent what it contains, and data of many values takes long.
 */
async function readContent(
  parts: readonly Part[],
  nextTurn: () => Promise<void>,
): Promise<Uint8Array<ArrayBuffer>> {
  const turns = new DecodingTurns({ nextTurn });
  const contents: Uint8Array[] = [];
  for (const part of parts) {
    await turns.count(weighMessage(part));
    contents.push(partBytes(part));
  }
  return joinBytes(contents) as Uint8Array<ArrayBuffer>; // we make no shared memory
}

/** The metadata that seals an artifact: `size` in bytes and `sha256` in hex of its content. */
async function sealOf(content: Uint8Array<ArrayBuffer>, replaceable: boolean): Promise<JsonObject> {
  const sha256 = await sha256Hex(content);
  return { [lifecycleExtension]: { size: content.length, sha256, ...(replaceable ? { replaceable } : {}) } };
}

/** What takes the place of a seal whose digest holds no more. */
const reopened: JsonObject = { [lifecycleExtension]: { replaceable: true } };

/** `artifact` with more metadata. */
function withMetadata(artifact: Artifact, metadata: JsonObject): Artifact {
  return { ...artifact, metadata: mergeMembers(artifact.metadata, metadata) };
}

function partBytes({ content }: Part): Uint8Array {
  switch (content.case) {
    case "raw":
      return content.value;
    case "text":
    case "url":
      return utf8.encode(content.value);
    case "data":
      return utf8.encode(canonicalize(toJsonValue(content.value)) ?? "");
    case undefined:
      return new Uint8Array();
  }
}

const utf8 = new TextEncoder();
