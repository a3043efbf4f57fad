import type { Outcome, Place, Result } from "@a2a-connect/conformance";

/** Characters of a row's title. */
const titleWidth = 22;

/**
 * Lines of a table: what has passed, and what has not, by group of requirements and place; `–` where nothing applies.
 *
 * @param titles of the groups, by the letter that their requirements begin with
 * @param places the columns
 */
export function formatCheckTable(
  results: readonly Result[],
  titles: Readonly<Record<string, string>>,
  places: readonly Place[],
): string[] {
  const groups = Map.groupBy(results, ({ scenario: { ids } }) => ids[0]?.replace(/-.*/, "") ?? "");
  const rows = Object.entries(titles).flatMap(([letter, title]) => {
    const group = groups.get(letter);
    if (group === undefined) return [];
    const cells = places.map((place) =>
      formatCell(group.filter((result) => result.place === place)).padStart(widthOf(place)),
    );
    return [`${`${letter} ${title}`.slice(0, titleWidth).padEnd(titleWidth)}${cells.join("")}`];
  });
  const head = places.map((place) => place.padStart(widthOf(place))).join("");
  return [`${" ".repeat(titleWidth)}${head}`, ...rows];
}

function formatCell(results: readonly Result[]): string {
  const count = (wanted: Outcome) => results.filter(({ outcome }) => outcome === wanted).length;
  const [passed, failed] = [count("passed"), count("failed")];
  if (failed > 0) return `${passed} ✗${failed}`;
  if (passed > 0) return `${passed}`;
  return count("not-run") > 0 ? "…" : "–";
}

function widthOf(place: Place): number {
  return Math.max(place.length, 6) + 2;
}
