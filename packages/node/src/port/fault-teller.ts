/** A fault of one kind is told once in this time: callers may be able to cause it again and again. */
const noticeMs = 60_000;

/** How many faults of one kind there were. */
interface Known {
  toldAt: number;
  /** Since then. */
  more: number;
}

/**
 * Tells the operator of what went wrong on a connection outside of all handlers. It says what was thrown, and where, but not its text: that
 * may have something of a caller's.
 *
 * @param now milliseconds of a clock that only goes forward
 */
export function createFaultTeller(
  warn: (message: string) => void,
  now: () => number = () => performance.now(),
): (fault: unknown) => void {
  const kinds = new Map<string, Known>();
  return (fault) => {
    const kind = kindOf(fault);
    const known = kinds.get(kind) ?? { toldAt: Number.NEGATIVE_INFINITY, more: 0 };
    kinds.set(kind, known);
    if (now() - known.toldAt < noticeMs) {
      known.more += 1;
      return;
    }
    const more = known.more === 0 ? "" : `, and ${known.more} more before`;
    warn(`a connection or a call was cut by a fault of this server, which is worth a report: ${kind}${more}`);
    known.toldAt = now();
    known.more = 0;
  };
}

/** The name of an error, and the place in the code where it was thrown: there are only so many of them. */
function kindOf(fault: unknown): string {
  if (!(fault instanceof Error)) return `something of the type ${typeof fault}`;
  const { message, stack = "" } = fault;
  const [place] = /(?<=^ *at ).+/m.exec(stack.replace(message, () => "")) ?? ["a place that is not known"];
  return `${fault.constructor.name} at ${place}`;
}
