/** How many elements hold, of a list in which those that hold come first. */
export function countFirst<Element>(list: readonly Element[], holds: (element: Element) => boolean): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const element = list[middle];
    if (element !== undefined && holds(element)) low = middle + 1;
    else high = middle;
  }
  return low;
}
