import { partText } from "@a2a-connect/core";
import { joinBytes, toJsonValue } from "@a2a-connect/core/internal";
import type { Artifact, Part, Task } from "@a2a-connect/proto";
import type { JsonValue } from "@bufbuild/protobuf";
import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { ClientContext } from "../client-context.ts";
import { InvalidResponseError } from "../errors.ts";
import type { ArtifactServices } from "./save-parts.ts";
import { validate } from "./validate.ts";

/** Reads an artifact. Only `inspect` has looked at its content. */
export interface ArtifactReader {
  readonly artifact: Artifact;
  readonly id: string;
  /** `""` when it has none. */
  readonly name: string;
  readonly parts: readonly Part[];
  /** All text parts, joined without a separator. */
  text(): string;
  /** The first data part, else the text parsed as JSON. @throws AgentError when there is neither */
  json(): JsonValue;
  /** The same, validated. @throws UntrustedOutputError with the schema's issues */
  json<Schema extends StandardSchemaV1>(schema: Schema): Promise<StandardSchemaV1.InferOutput<Schema>>;
  /** The bytes of its raw parts, else of its text, in UTF-8. Parts by URL are not fetched. */
  bytes(): Uint8Array;
  /**
   * Writes each part as a file into a directory (Node). It ignores directories in names and overwrites nothing. It
   * fetches parts by URL without credentials, over up to three redirects; through the guard when the client is
   * `untrusted`. It gives up when the host is silent for `idleTimeoutMs`.
   *
   * @returns the paths
   * @throws UntrustedOutputError when the saved artifacts of the task would become more than 1,000 files; then nothing of
   *   this one is written
   * @throws UnreachableError when a file cannot be fetched; the signal's reason when it aborts
   */
  save(directory: string, options?: SaveOptions): Promise<string[]>;
}

/** How to save an artifact. */
export interface SaveOptions {
  /** Aborts between two parts, and in the middle of a fetched part. Written files stay. */
  readonly signal?: AbortSignal;
}

/** Readers of a task's artifacts, with the client's limits, fetch and platform. */
export function readArtifacts(
  { options, settings, cards, closed }: ClientContext,
  task: Task,
): readonly ArtifactReader[] {
  const { url } = cards.current.resolved;
  const services: ArtifactServices = {
    saveFile: options.platform?.saveFile,
    filesOfTask: new Map(),
    async fetch(input, init) {
      const { fileFetch } = await import("../on-demand.ts");
      return fileFetch(options, url)(input, init);
    },
    maxBytes: options.maxResponseBytes ?? 64 * 1024 * 1024,
    idleTimeoutMs: settings.idleTimeoutMs,
    clock: settings.clock,
    signal: closed.signal,
  };
  return task.artifacts.map((artifact) => createArtifactReader(artifact, services));
}

/** A reader of a complete artifact. */
export function createArtifactReader(artifact: Artifact, services: ArtifactServices): ArtifactReader {
  return new ArtifactView(artifact, services);
}

/**
 * The first data part, else the text parsed as JSON.
 *
 * @param what begins the sentence when there is neither
 */
export function readJson(content: { readonly parts: readonly Part[] }, what: string): JsonValue {
  const found = content.parts.find((part) => part.content.case === "data")?.content;
  const text = partText(content);
  if (found?.case !== "data" && text === "") {
    throw new InvalidResponseError(`${what} has neither data nor text`);
  }
  try {
    return found?.case === "data" ? toJsonValue(found.value) : JSON.parse(text);
  } catch (cause) {
    throw new InvalidResponseError(`${what} is not JSON`, { cause });
  }
}

class ArtifactView implements ArtifactReader {
  readonly artifact: Artifact;
  readonly #services: ArtifactServices;

  constructor(artifact: Artifact, services: ArtifactServices) {
    this.artifact = artifact;
    this.#services = services;
  }

  get id(): string {
    return this.artifact.artifactId;
  }

  get name(): string {
    return this.artifact.name;
  }

  get parts(): readonly Part[] {
    return this.artifact.parts;
  }

  text(): string {
    return partText(this.artifact);
  }

  json(): JsonValue;
  json<Schema extends StandardSchemaV1>(schema: Schema): Promise<StandardSchemaV1.InferOutput<Schema>>;
  json(schema?: StandardSchemaV1): JsonValue | Promise<unknown> {
    return schema === undefined ? this.#readJson() : this.#validated(schema);
  }

  bytes(): Uint8Array {
    const raw = this.parts.flatMap(({ content }) => (content.case === "raw" ? [content.value] : []));
    return raw.length === 0 ? new TextEncoder().encode(this.text()) : joinBytes(raw);
  }

  async save(directory: string, { signal }: SaveOptions = {}): Promise<string[]> {
    const { saveParts } = await import("../on-demand.ts"); // not for pages
    return saveParts(this.artifact, directory, this.#services, signal);
  }

  /** Asynchronous, so that unreadable JSON rejects, like a schema that does not fit. */
  async #validated(schema: StandardSchemaV1): Promise<unknown> {
    return validate(schema, this.#readJson(), this.#title);
  }

  #readJson(): JsonValue {
    return readJson(this, this.#title);
  }

  get #title(): string {
    return `artifact ${JSON.stringify(this.name === "" ? this.id : this.name)}`;
  }
}
