/**
 * The first number from `from` on that is free, where those in use have no gaps; otherwise one that is free. It takes about
 * twice the logarithm of how many are in use, not one step for each: a directory may hold thousands of files of one name.
 *
 * @param isTaken asked for a few numbers between `from` and `last`
 * @returns undefined when none was found up to `last`
 */
export async function findFreeNumber(
  isTaken: (number: number) => Promise<boolean>,
  from: number,
  last: number,
): Promise<number | undefined> {
  let taken = from - 1; // the highest of which that is known
  let free = from;
  for (let step = 1; free > last || (await isTaken(free)); step *= 2) {
    if (free >= last) {
      return undefined;
    }
    taken = free;
    free = Math.min(free + step, last);
  }
  while (free - taken > 1) {
    const middle = Math.floor((taken + free) / 2);
    if (await isTaken(middle)) taken = middle;
    else free = middle;
  }
  return free;
}
