import { formatBase64, sha256Hex, toTable } from "@a2a-connect/core/internal";
import type { Inspect, Inspected } from "../options.ts";

/** How many accepted values are remembered; the oldest is forgotten first. */
const maxRemembered = 10_000;

/**
 * An inspector that shows each value to `inspect` until `inspect` accepts it, and then not again while the value is the
 * same: snapshots of a task, polls and reconnections bring every value once more. A value that arrives twice at the
 * same time is shown once. A refused value is shown again when it comes again.
 *
 * It recognises an accepted value by the SHA-256 of its content: a changed part is another value. On platforms without
 * SHA-256 (pages that came over plain http) every value is shown each time.
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

/** The hash of the content and its kind: the same part in a message and in an artifact is two values. */
async function digestOf(inspected: Inspected): Promise<string> {
  return await sha256Hex(JSON.stringify(inOrder(inspected)));
}

/**
 * A copy for JSON: with the keys of maps sorted, because a server may send them in another order each time, and with
 * bytes and numbers that JSON cannot hold as text.
 */
function inOrder(value: unknown): unknown {
  if (value instanceof Uint8Array) {
    return formatBase64(value);
  }
  if (typeof value === "bigint" || (typeof value === "number" && !Number.isFinite(value))) {
    return String(value);
  }
  if (typeof value !== "object" || value === null) {
    return value;
  }
  if (Array.isArray(value)) {
    return value.map(inOrder);
  }
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return toTable(members.map(([name, member]) => [name, inOrder(member)]));
}
