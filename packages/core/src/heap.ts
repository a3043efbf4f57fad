/** What Node has, and other runtimes may not. */
interface NodeProcess {
  readonly versions?: { readonly bun?: string };
  getBuiltinModule?(
    name: "node:v8",
  ): { getHeapStatistics(): { readonly heap_size_limit: number } } | undefined;
}

/** Of `heap_size_limit`, what is for young objects: three semi-spaces of 64 MiB each (Node 22: of 16 MiB). */
const youngBytes = 192 * 2 ** 20;

/**
 * How many bytes of what lives long the heap of this process may have, about: beyond these it ends. 4 GiB where the runtime does not
 * tell. Bun tells another number, which grows.
 */
export function heapLimit(): number {
  const { process } = globalThis as { readonly process?: NodeProcess };
  const isNode = process?.versions?.bun === undefined;
  const limit = isNode && process?.getBuiltinModule?.("node:v8")?.getHeapStatistics().heap_size_limit;
  return limit === undefined || limit === false ? 2 ** 32 : Math.max(youngBytes / 4, limit - youngBytes);
}

/** The heap for which the defaults of all limits on memory are made: one address can fill them all beside each other. */
const wantedHeap = 2 ** 31;

/** What a server takes that has no calls. */
const ownBytes = 40 * 2 ** 20;

/** The default of such a limit: a smaller heap, as in a small container, gets as much less of it. */
export function scaleToHeap(amount: number): number {
  const share = (heapLimit() - ownBytes) / (wantedHeap - ownBytes);
  return Math.floor(amount * Math.min(1, share));
}
