/**
 * A free number from `from` on: the first one if the used numbers have no gaps. It asks about twice the logarithm of
 * the used numbers, not once for each: a directory may have thousands of files of one name.
 *
 * @param isTaken called for a few numbers between `from` and `last`
 * @returns undefined when it found none up to `last`
 */
export async function findFreeNumber(
  isTaken: (number: number) => Promise<boolean>,
  from: number,
  last: number,
): Promise<number | undefined> {
  let taken = from - 1; // the highest number known to be taken
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
