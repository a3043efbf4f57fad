import { type ReadonlySignal, signal } from "@preact/signals";

/** A thing that changes often, for views that are drawn again at most once a frame. */
export interface Framed<Thing> {
  /** The thing in a new wrapper for every frame in which it has changed. */
  readonly shown: ReadonlySignal<{ readonly current: Thing }>;
  /** The thing has changed. */
  changed(): void;
}

/** Shortest time between two drawings, in milliseconds: the rest of the time is for events and for people. */
const drawMs = 40;

export function createFramed<Thing>(current: Thing): Framed<Thing> {
  const shown = signal({ current });
  let isPending = false;
  let drawnAt = 0;
  return {
    shown,
    changed() {
      if (isPending) return;
      isPending = true;
      const draw = (): void => {
        isPending = false;
        drawnAt = performance.now();
        shown.value = { current };
      };
      const wait = drawnAt + drawMs - performance.now();
      // A hidden page has no frames.
      if (document.hidden) setTimeout(draw, 250);
      else if (wait > 0) setTimeout(() => requestAnimationFrame(draw), wait);
      else requestAnimationFrame(draw);
    },
  };
}

/** How long a loop over events may go on before the page is drawn and reads input, in milliseconds. */
const sliceMs = 10;

/** Divides a long loop into slices. */
export interface Breath {
  /** Pauses, so that the page is drawn. */
  (): Promise<void>;
  /** Whether it is time for a pause. */
  isDue(): boolean;
}

export function createBreath(): Breath {
  let began = performance.now();
  const breathe = (): Promise<void> =>
    new Promise((resolve) => {
      setTimeout(() => {
        began = performance.now();
        resolve();
      });
    });
  return Object.assign(breathe, { isDue: () => performance.now() - began > sliceMs });
}
