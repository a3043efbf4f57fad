const months = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];

const month = months.join("|");

/** Source of a pattern for what `dayOfYear` reads. */
export const dayPattern = `(?:the )?(?:(?:${month}) \\d{1,2}|\\d{1,2}(?:st|nd|rd|th)?(?: of)? (?:${month}))(?:st|nd|rd|th)?\\b`;

/** `03-14` for "March 14", "14 March" and "the 14th of March"; undefined for anything else. */
export function dayOfYear(text: string): string | undefined {
  const index = months.findIndex((name) => text.includes(name));
  const day = /\d{1,2}/.exec(text)?.[0];
  return index < 0 || day === undefined
    ? undefined
    : `${String(index + 1).padStart(2, "0")}-${day.padStart(2, "0")}`;
}
