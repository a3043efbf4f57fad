import { type ReadonlySignal, signal } from "@preact/signals";

/** A thing that changes often, for views that are drawn again at most once a frame. */
export interface Framed<Thing> {
  /** The thing in a new wrapper for every frame in which it has changed. */
  readonly shown: ReadonlySignal<{ readonly current: Thing }>;
  /** The thing has changed. */
  changed(): void;
}

export function createFramed<Thing>(current: Thing): Framed<Thing> {
  const shown = signal({ current });
  let isPending = false;
  return {
    shown,
    changed() {
      if (isPending) return;
      isPending = true;
      const draw = (): void => {
        isPending = false;
        shown.value = { current };
      };
      // A hidden page has no frames.
      if (document.hidden) setTimeout(draw, 250);
      else requestAnimationFrame(draw);
    },
  };
}

/** How long a loop over events may go on before the page is drawn and reads input, in milliseconds. */
const sliceMs = 10;

/** Divides a long loop into slices: `await breathe()` once a round. */
export function createBreath(): () => Promise<void> | undefined {
  let began = performance.now();
  return () => {
    if (performance.now() - began < sliceMs) return undefined;
    return new Promise((resolve) => {
      setTimeout(() => {
        began = performance.now();
        resolve();
      });
    });
  };
}
