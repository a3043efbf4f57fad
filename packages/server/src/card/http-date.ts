const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/** `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` */
const dayFirst =
  /^[a-z]{3,9}, (?<day>\d{2})[ -](?<month>[a-z]{3})[ -](?<year>\d{4}|\d{2}) (?<time>\d{2}:\d{2}:\d{2}) GMT$/i;

/** `Sun Nov  6 08:49:37 1994` */
const monthFirst = /^[a-z]{3} (?<month>[a-z]{3}) (?<day>[ \d]\d) (?<time>\d{2}:\d{2}:\d{2}) (?<year>\d{4})$/i;

/**
 * Milliseconds since 1970 of an HTTP date in any of its three forms (RFC 9110 §5.6.7); undefined for everything else, which
 * `Date.parse` would take for some time or other.
 */
export function parseHttpDate(text: string): number | undefined {
  const { day, month, year, time } = (dayFirst.exec(text) ?? monthFirst.exec(text))?.groups ?? {};
  const index = months.indexOf(month?.toLowerCase() ?? "");
  if (day === undefined || year === undefined || time === undefined || index === -1) {
    return undefined;
  }
  const [hour, minute, second] = time.split(":").map(Number);
  const fullYear = year.length === 2 ? fromTwoDigits(Number(year)) : Number(year);
  const at = Date.UTC(fullYear, index, Number(day), hour, minute, second);
  return Number.isNaN(at) ? undefined : at;
}

/** What seems to be more than 50 years ahead is of the century before. Nothing that is served is older than 1970. */
function fromTwoDigits(year: number): number {
  return year < 70 ? 2_000 + year : 1_900 + year;
}

/** The same as text, in whole seconds. */
export function formatHttpDate(ms: number): string {
  return new Date(ms).toUTCString();
}
