const cells = 20;
const full = "█";
const empty = "░";

/**
 * One line that says how far something is.
 *
 * @param fraction from 0 to 1; what lies outside is taken for the nearest of them
 * @param label what is being done; cut where the line would be longer than `columns`
 */
export function progressBar(fraction: number, label: string, columns: number): string {
  const known = Math.min(Math.max(fraction, 0), 1);
  const done = Math.floor(known * cells);
  const percent = `${Math.floor(known * 100)}%`.padStart(4);
  const bar = `${full.repeat(done)}${empty.repeat(cells - done)}${percent}`;
  const room = columns - bar.length - 2;
  return label === "" || room < 4 ? bar : `${bar} ${shorten(label, room)}`;
}

function shorten(label: string, length: number): string {
  return label.length <= length ? label : `${label.slice(0, length - 1)}…`;
}
