/** The word that a misspelt one may be meant for: at most every third character is wrong. Upper and lower case are the same. */
export function findNearestWord(word: string, words: Iterable<string>): string | undefined {
  let nearest: string | undefined;
  let least = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const candidate of words) {
    const distance = distanceBetween(word.toLowerCase(), candidate.toLowerCase());
    if (distance < least) [nearest, least] = [candidate, distance];
  }
  return nearest;
}

/** How many characters have to be put in, left out, replaced, or swapped with their neighbour (Damerau and Levenshtein). */
function distanceBetween(from: string, to: string): number {
  let before: readonly number[] = [];
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let line = 0; line < from.length; line++) {
    const next = [line + 1];
    for (let column = 0; column < to.length; column++) {
      const swapped = from[line] === to[column - 1] && from[line - 1] === to[column];
      next.push(
        Math.min(
          (row[column] ?? 0) + (from[line] === to[column] ? 0 : 1),
          (row[column + 1] ?? 0) + 1,
          (next[column] ?? 0) + 1,
          swapped ? (before[column - 1] ?? 0) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
    [before, row] = [row, next];
  }
  return row.at(-1) ?? 0;
}
