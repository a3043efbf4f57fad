import { lifecycleExtension } from "@a2a-connect/core";
import { effectiveMediaType, joinBytes, matchesMediaType, sha256Hex } from "@a2a-connect/core/internal";
import { type Artifact, type Part, TaskState } from "@a2a-connect/proto";
import { type JsonObject, toJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import canonicalize from "canonicalize";
import type { ArtifactEvent, StatusEvent } from "../agent/task-event.ts";
import { AgentMistake, assertJsonMetadata, assertJsonParts } from "./agent-mistake.ts";
import { artifactEvent } from "./events.ts";
import type { LiveTask } from "./live-task.ts";

/** Makes events of a task from what its executor yields, by the rules that all executors share. */
export class Emitter {
  /** Media types that the skill may produce. */
  readonly #outputModes: readonly string[];
  /** The task; a turn creates it when this is first called. */
  readonly #live: () => LiveTask;
  readonly #begun = new Set<string>();

  constructor(outputModes: readonly string[], live: () => LiveTask) {
    this.#outputModes = outputModes;
    this.#live = live;
  }

  /** @throws AgentMistake when the event is not allowed */
  status({ state, parts, report }: StatusEvent): void {
    if (state === TaskState.INPUT_REQUIRED || state === TaskState.AUTH_REQUIRED) {
      assertParts(parts, "a question");
    }
    assertJsonParts(parts, "a status");
    assertJsonMetadata(report, "a status");
    this.#live().emitStatus({ state, parts, report });
  }

  /**
   * @returns undefined, or for the last event of an artifact a promise: its digest is computed
   * @throws AgentMistake when the event is not allowed
   */
  artifact({ artifact, mode, last, replaceable }: ArtifactEvent): Promise<void> | undefined {
    const { artifactId, parts } = artifact;
    assertParts(parts, `artifact "${artifactId}"`);
    this.#assertOutputModes(parts);
    assertJsonParts(parts, `artifact "${artifactId}"`);
    assertJsonMetadata(artifact.metadata, `artifact "${artifactId}"`);
    const live = this.#live();
    const append = mode === "continued" || (mode === "chunk" && this.#begun.has(artifactId));
    this.begin(artifactId);
    const emit = (emitted: Artifact) =>
      live.emitArtifact(artifactEvent(live.name, emitted, append, last), { replaceable });
    if (!last) {
      emit(artifact);
      return undefined;
    }
    const seal = async (): Promise<void> => {
      const earlier = append ? await live.artifactParts(artifactId) : [];
      emit(withMetadata(artifact, await sealArtifact([...earlier, ...parts], replaceable)));
    };
    return seal();
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

/** @throws AgentMistake when there are none: a message or artifact without parts is invalid (requirement H-7) */
export function assertParts(parts: readonly Part[], what: string): void {
  if (parts.length === 0) {
    throw new AgentMistake(`${what} needs at least one part`);
  }
}

/**
 * The metadata that seals an artifact: `size` in bytes and `sha256` in hex of its content. The content is the parts'
 * bytes one after the other: text and url as UTF-8, raw as it is, data as RFC 8785 JSON (docs/extensions/lifecycle.md).
 */
async function sealArtifact(parts: readonly Part[], replaceable: boolean): Promise<JsonObject> {
  const content = joinBytes(parts.map(partBytes)) as Uint8Array<ArrayBuffer>; // we make no shared memory
  const sha256 = await sha256Hex(content);
  return { [lifecycleExtension]: { size: content.length, sha256, ...(replaceable ? { replaceable } : {}) } };
}

/** `artifact` with more metadata. */
function withMetadata(artifact: Artifact, metadata: JsonObject): Artifact {
  return { ...artifact, metadata: { ...artifact.metadata, ...metadata } };
}

function partBytes({ content }: Part): Uint8Array {
  switch (content.case) {
    case "raw":
      return content.value;
    case "text":
    case "url":
      return utf8.encode(content.value);
    case "data":
      return utf8.encode(canonicalize(toJson(ValueSchema, content.value)) ?? "");
    case undefined:
      return new Uint8Array();
  }
}

const utf8 = new TextEncoder();
