import { AgentCardSchema, ArtifactSchema, PartSchema } from "@a2a-connect/proto";
import { toBinary } from "@bufbuild/protobuf";
import type { Inspect, Inspected } from "../options.ts";

/** How much of what has passed is remembered, oldest forgotten first. */
const maxRemembered = 10_000;

/**
 * An inspector that shows each thing to `inspect` until that lets it pass, and then not again while it is the same:
 * snapshots of a task, polls and reconnections bring everything once more. What is shown at the same time is shown once, and
 * what is refused is shown again when it comes again.
 *
 * What has passed is known by the SHA-256 of its content: a changed part is another one. Where the platform has none (pages
 * that came over plain http) everything is shown each time.
 */
export function inspectOnce(inspect: Inspect): Inspect {
  const passed = new Set<string>();
  const underWay = new Map<string, Promise<void>>();

  async function show(inspected: Inspected, digest: string): Promise<void> {
    await inspect(inspected);
    passed.add(digest);
    const [oldest] = passed;
    if (passed.size > maxRemembered && oldest !== undefined) {
      passed.delete(oldest);
    }
  }

  return async (inspected) => {
    if (globalThis.crypto?.subtle === undefined) {
      return await inspect(inspected);
    }
    const digest = await digestOf(inspected);
    if (passed.has(digest)) {
      return;
    }
    let showing = underWay.get(digest);
    if (showing === undefined) {
      showing = show(inspected, digest).finally(() => underWay.delete(digest));
      underWay.set(digest, showing);
    }
    await showing;
  };
}

/** Of the content and what it is: the same part in a message and in an artifact is two things. */
async function digestOf(inspected: Inspected): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", encode(inspected));
  const kind = inspected.kind === "part" ? `part of ${inspected.of}` : inspected.kind;
  return `${kind} ${String.fromCharCode(...new Uint8Array(digest))}`;
}

function encode(inspected: Inspected): Uint8Array<ArrayBuffer> {
  switch (inspected.kind) {
    case "card":
      return toBinary(AgentCardSchema, inOrder(inspected.card));
    case "part":
      return toBinary(PartSchema, inOrder(inspected.part));
    case "artifact":
      return toBinary(ArtifactSchema, inOrder(inspected.artifact));
  }
}

/** A copy whose maps are in the order of their keys: a server may send them in another one each time. */
function inOrder<T>(value: T): T {
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) {
    return value;
  }
  // The casts restate that a copy of a message's plain objects and lists, member by member, is of the same type.
  if (Array.isArray(value)) {
    return value.map(inOrder) as T;
  }
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(members.map(([name, member]) => [name, inOrder(member)])) as T;
}
