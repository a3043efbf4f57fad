import type { Message } from "@bufbuild/protobuf";

/** The weight of a value that is not text. */
const valueBytes = 8;

/**
 * Whether a message weighs more than `limit`, about in bytes of its binary encoding. It visits no more of the message
 * than it needs.
 */
export function isLarge(message: Message, limit: number = 256 * 1024): boolean {
  return weigh(message, limit) > limit;
}

interface KnownWeight {
  readonly weight: number;
  /** false: a lower bound, because not all of the object was visited. */
  readonly isExact: boolean;
}

/** Weights found before. To visit one member of an object with many names costs as much as to visit all. */
const knownWeights = new WeakMap<object, KnownWeight>();

/** Keeps the size of a message's binary encoding as its weight. The message must not change any more. */
export function keepWeight(message: Message, bytes: number): void {
  knownWeights.set(message, { weight: bytes, isExact: true });
}

/** @returns more than `limit` when the value weighs more: the weight of what was visited until then */
function weigh(value: unknown, limit: number): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return valueBytes;
  if (value instanceof Uint8Array) return value.length;
  const known = knownWeights.get(value);
  if (known !== undefined && (known.isExact || known.weight > limit)) return known.weight;
  const weight = weighInside(value, limit);
  if (weight > limit) knownWeights.set(value, { weight, isExact: false });
  return weight;
}

function weighInside(value: object, limit: number): number {
  let weight = valueBytes;
  if (Array.isArray(value)) {
    for (const element of value) {
      weight += weigh(element, limit - weight);
      if (weight > limit) return weight;
    }
    return weight;
  }
  for (const name in value) {
    weight += weigh((value as Record<string, unknown>)[name], limit - weight); // any object's own members
    if (weight > limit) return weight;
  }
  return weight;
}
