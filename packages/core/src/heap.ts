/** What Node has, and other runtimes may not. */
interface NodeProcess {
  readonly versions?: { readonly bun?: string };
  getBuiltinModule?(
    name: "node:v8",
  ): { getHeapStatistics(): { readonly heap_size_limit: number } } | undefined;
}

/** How many bytes the heap of this process may have; 4 GiB where the runtime does not tell. Bun tells another number, which grows. */
export function heapLimit(): number {
  const { process } = globalThis as { readonly process?: NodeProcess };
  const isNode = process?.versions?.bun === undefined;
  return (isNode && process?.getBuiltinModule?.("node:v8")?.getHeapStatistics().heap_size_limit) || 2 ** 32;
}

/** The heap for which the defaults of all limits on memory are made: one address can fill them all beside each other. */
const wantedHeap = 2 ** 31;

/** The default of such a limit: a smaller heap, as in a small container, gets as much less of it. */
export function scaleToHeap(amount: number): number {
  return Math.floor(amount * Math.min(1, heapLimit() / wantedHeap));
}
