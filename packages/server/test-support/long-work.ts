import { nextSlice } from "@a2a-connect/bindings/server";

/** Long work of a caller, as many slices of it as given: it waits for its turns. */
export function beginLongWork(share: string | undefined, slices: number) {
  let begun = 0;
  const all = Array.from({ length: slices }, () => nextSlice(share).then(() => ++begun));
  return {
    /** How many slices have had their turn. */
    get begun() {
      return begun;
    },
    over: Promise.all(all),
  };
}
