const cells = 20;

/** `████░░░░░░  40%`. @param fraction from 0 to 1; what lies outside, since agents write it, is taken for the nearest of them */
export function progressBar(fraction: number): string {
  const known = Math.min(Math.max(fraction, 0), 1);
  const done = Math.floor(known * cells);
  return `${"█".repeat(done)}${"░".repeat(cells - done)} ${`${Math.floor(known * 100)}%`.padStart(4)}`;
}
