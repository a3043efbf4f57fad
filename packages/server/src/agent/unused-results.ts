/** Further results of one execution are not watched: its code may make them without end. */
const maxWatched = 1_000;

/** To find out where a tool is called costs several microseconds, as much as an event costs otherwise. */
const maxPlaces = 200;

/** How many more calls of this process note where they are. The first tasks of an agent suffice to find its mistakes. */
let placesLeft = maxPlaces;

/** Engines other than V8 keep the frames of the tool in the stack. */
const v8: {
  readonly stackTraceLimit?: number;
  readonly captureStackTrace?: (target: Error, above: Call) => void;
} = Object(Error);

type Call = (...args: never[]) => unknown;

/** A result, and what to say when it is never used. */
interface Result {
  readonly sentence: string;
  /** Its stack says where the tool was called; undefined when many calls have noted theirs before. */
  readonly place: Error | undefined;
}

/**
 * What the tools of one execution have returned, and its code has not used yet. Code that forgets a `yield` or an
 * `await` loses an event or a result without any other sign.
 */
export class UnusedResults {
  readonly #results = new Map<object, Result>();

  /** The tool called `name`, with its events watched until they are yielded. */
  events<Arguments extends readonly unknown[], Event extends object>(
    name: string,
    tool: (...args: Arguments) => Event,
  ): (...args: Arguments) => Event {
    const watched = (...args: Arguments): Event => {
      const event = tool(...args);
      this.add(
        event,
        `an event was made by ${name}(…) and not yielded: write "yield" before the call`,
        watched,
      );
      return event;
    };
    return watched;
  }

  /** @param tool the function that the executor's code has called: the stack begins at its caller */
  add(result: object, sentence: string, tool: Call): void {
    if (this.#results.size < maxWatched) {
      this.#results.set(result, { sentence, place: placesLeft > 0 ? notePlace(tool) : undefined });
    }
  }

  used(result: object): void {
    this.#results.delete(result);
  }

  /** The oldest result that is not used: the sentence, and a stack that begins where the tool was called. */
  find(): { readonly sentence: string; readonly stack: string | undefined } | undefined {
    const [oldest] = this.#results.values();
    if (oldest === undefined) {
      return undefined;
    }
    placesLeft = maxPlaces; // with the next task the place is known
    return { sentence: oldest.sentence, stack: oldest.place?.stack };
  }
}

function notePlace(tool: Call): Error {
  placesLeft -= 1;
  const place = new Error();
  v8.captureStackTrace?.(place, tool);
  return place;
}
