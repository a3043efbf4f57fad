const cells = 20;
const full = "█";
const empty = "░";

/**
 * One line that says how far something is.
 *
 * @param fraction from 0 to 1; what lies outside is taken for the nearest of them
 * @param label what is being done
 */
export function progressBar(fraction: number, label: string): string {
  const known = Math.min(Math.max(fraction, 0), 1);
  const done = Math.floor(known * cells);
  const percent = `${Math.floor(known * 100)}%`.padStart(4);
  return `${full.repeat(done)}${empty.repeat(cells - done)} ${percent} ${label}`.trimEnd();
}
