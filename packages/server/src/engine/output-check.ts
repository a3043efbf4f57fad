import { defaultMaxDepth, maxNameLength, TextSizes } from "@a2a-connect/core/internal";
import type { Part } from "@a2a-connect/proto";
import type { Value } from "@bufbuild/protobuf/wkt";
import type { ArtifactEvent } from "../agent/task-event.ts";
import { AgentMistake } from "./agent-mistake.ts";
import { containerBytes, valueBytes } from "./memory-weight.ts";

/** @throws AgentMistake when there are none: a message or artifact without parts is invalid (requirement H-7) */
export function assertParts(parts: readonly Part[], what: string): void {
  if (parts.length === 0) {
    throw new AgentMistake(`${what} needs at least one part`);
  }
}

/** What a status or a reply contains. */
export interface MessageContent {
  readonly parts: readonly Part[];
  readonly report?: object;
}

/**
 * Looks at what a status or a reply contains before anything is made of it.
 *
 * @param maxBytes that it may take, about
 * @throws AgentMistake for what JSON cannot hold, and `task-too-large`
 */
export function assertMessage({ parts, report }: MessageContent, what: string, maxBytes: number): void {
  const check = new OutputCheck(what, maxBytes);
  check.addParts(parts);
  if (report !== undefined) check.addJson(report);
}

/** The same for an artifact. @returns what it takes in memory, at least */
export function assertArtifact(
  { artifact, data }: Pick<ArtifactEvent, "artifact" | "data">,
  what: string,
  maxBytes: number,
): number {
  const { name = "", description = "", extensions = [], parts, metadata } = artifact;
  const check = new OutputCheck(what, maxBytes);
  check.count(name.length + description.length);
  for (const uri of extensions) check.count(valueBytes + uri.length);
  check.addParts(parts);
  if (data !== undefined) check.addData(data);
  if (metadata !== undefined) check.addJson(metadata);
  return check.bytes;
}

/** Names of one object in data or metadata. An object is written in one piece, and 100,000 names take some 100 ms on each wire. */
const maxNames = 100_000;

/**
 * Refuses values that protobuf can hold and JSON cannot, so that the JSON wires can show every stored event, objects with too many
 * names, and what is too large: an agent may give one text or list of its caller's in thousands of places, where it takes no memory
 * before it is weighed or encoded. It visits no more than may be stored, and reads a text once.
 */
class OutputCheck {
  readonly #what: string;
  readonly #maxBytes: number;
  #bytes = 0;
  #levels = 0;
  #isData = false;
  readonly #texts = new TextSizes();

  constructor(what: string, maxBytes: number) {
    this.#what = what;
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  count(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > this.#maxBytes) {
      throw new AgentMistake(`${this.#what} takes more than ${this.#maxBytes} bytes`, "task-too-large");
    }
  }

  /** A long text with a wide character counts twice, as in memory. */
  #countText(text: string): void {
    this.count(this.#texts.bytesOf(text));
  }

  addParts(parts: readonly Part[]): void {
    for (const { content, metadata, filename = "", mediaType = "" } of parts) {
      this.count(valueBytes + filename.length + mediaType.length);
      if (content.case === "data") this.#addValue(content.value);
      else if (typeof content.value === "string") this.#countText(content.value);
      else if (content.value !== undefined) this.count(content.value.length);
      if (metadata !== undefined) this.addJson(metadata);
    }
  }

  /** Data, whose values have to be JSON: in metadata others become null. */
  addData(data: unknown): void {
    this.#isData = true;
    this.addJson(data);
    this.#isData = false;
  }

  /** A getter of the agent's, or its proxy, may throw. */
  addJson(json: unknown): void {
    try {
      this.#addJson(json);
    } catch (error) {
      if (error instanceof AgentMistake) throw error;
      throw new AgentMistake(`${this.#what}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  readonly #addJson = (json: unknown): void => {
    if (typeof json === "string") {
      this.count(valueBytes);
      this.#countText(json);
    } else if (typeof json === "object" && json !== null) {
      this.count(containerBytes);
      this.#levels += 1;
      if (this.#levels > defaultMaxDepth) {
        throw new AgentMistake(`${this.#what} has JSON that is nested deeper than ${defaultMaxDepth} levels`);
      }
      if (Array.isArray(json)) for (const each of json) this.#addJson(each);
      else this.#addMembers(json as Readonly<Record<string, unknown>>, this.#addJson);
      this.#levels -= 1;
    } else {
      if (typeof json === "number") this.#assertNumber(json);
      else if (this.#isData && json !== null && typeof json !== "boolean") {
        throw new AgentMistake(`${this.#what}: a JSON value cannot be a ${typeof json}`);
      }
      this.count(valueBytes);
    }
  };

  readonly #addValue = ({ kind }: Value): void => {
    switch (kind.case) {
      case "structValue":
        this.count(containerBytes);
        this.#addMembers(kind.value.fields, this.#addValue);
        return;
      case "listValue":
        this.count(containerBytes);
        for (const each of kind.value.values) this.#addValue(each);
        return;
      case "stringValue":
        this.count(valueBytes);
        this.#countText(kind.value);
        return;
      case "numberValue":
        this.#assertNumber(kind.value);
        this.count(valueBytes);
        return;
      case undefined:
        throw this.#notJson();
      default:
        this.count(valueBytes);
    }
  };

  /** There may be very many names, so no list of them is made. */
  #addMembers<Member>(members: Readonly<Record<string, Member>>, add: (member: Member) => void): void {
    let names = 0;
    for (const name in members) {
      names += 1;
      if (names > maxNames) {
        const words = `${this.#what} has an object with more than ${maxNames} names; use a list of objects, or a file`;
        throw new AgentMistake(words, "task-too-large");
      }
      if (name.length > maxNameLength) {
        const words = `${this.#what} has an object with a name of more than ${maxNameLength} characters`;
        throw new AgentMistake(words);
      }
      this.count(name.length);
      add(members[name] as Member); // a member of a plain object
    }
  }

  #assertNumber(value: number): void {
    if (!Number.isFinite(value)) throw this.#notJson();
  }

  #notJson(): AgentMistake {
    return new AgentMistake(`${this.#what} has a number that JSON cannot hold: NaN or infinite`);
  }
}
