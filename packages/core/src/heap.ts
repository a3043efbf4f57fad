/** What Node has, and other runtimes may not. */
interface NodeProcess {
  readonly versions?: { readonly bun?: string };
  readonly execArgv?: readonly string[];
  readonly env?: Readonly<Record<string, string | undefined>>;
  getBuiltinModule?(
    name: "node:v8",
  ): { getHeapStatistics(): { readonly heap_size_limit: number } } | undefined;
}

/** Give the MiB of V8's old space, and of one of the three parts of its young space, in the options of Node. */
const oldSpaceOption = /--max[-_]old[-_]space[-_]size[= ](\d+)/g;
const semiSpaceOption = /--max[-_]semi[-_]space[-_]size[= ](\d+)/g;

/**
 * How many bytes of what lives long the heap of this process may have, about: the process ends when V8's old space is full. 4 GiB where
 * the runtime does not tell. Bun tells another number, which grows.
 */
export function heapLimit(): number {
  const { process = {} } = globalThis as { readonly process?: NodeProcess };
  const { versions, execArgv = [], env = {} } = process;
  const isNode = versions?.bun === undefined;
  const limit = isNode && process.getBuiltinModule?.("node:v8")?.getHeapStatistics().heap_size_limit;
  if (limit === undefined || limit === false) return 2 ** 32;
  const options = [env["NODE_OPTIONS"] ?? "", ...execArgv].join(" ");
  const oldSpace = givenBytes(options, oldSpaceOption);
  if (oldSpace > 0) return Math.min(oldSpace, limit);
  const semiSpace = givenBytes(options, semiSpaceOption);
  // V8 itself chooses 3/32 of the old space for young objects, up to three semi-spaces of 64 MiB.
  const young = semiSpace > 0 ? 3 * semiSpace : Math.min((limit * 3) / 35, 192 * 2 ** 20);
  return Math.max(0, limit - young);
}

function givenBytes(options: string, option: RegExp): number {
  return Number([...options.matchAll(option)].at(-1)?.[1] ?? 0) * 2 ** 20; // the last one counts
}

/** The heap for which the defaults of all limits on memory are made: one address can fill them all beside each other. */
const wantedHeap = 2 ** 31;

/** What a server takes that has no calls. */
const ownBytes = 40 * 2 ** 20;

/** With less a server could do nothing. */
const leastShare = 1 / 100;

/** The default of such a limit: a smaller heap, as in a small container, gets as much less of it. */
export function scaleToHeap(amount: number): number {
  const share = (heapLimit() - ownBytes) / (wantedHeap - ownBytes);
  return Math.floor(amount * Math.min(1, Math.max(leastShare, share)));
}
