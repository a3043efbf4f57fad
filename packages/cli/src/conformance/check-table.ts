import type { Outcome, Place, Result } from "@a2a-connect/conformance";
import type { Output } from "../output.ts";

/** Characters of a row's title. */
const titleWidth = 22;

/** The results so far, counted by group of requirements and place. */
export class CheckTable {
  readonly #titles: Readonly<Record<string, string>>;
  readonly #places: readonly Place[];
  readonly #counts = new Map<string, Map<Place, Record<Outcome, number>>>();

  /** @param titles of the groups, by the letter that their requirements begin with @param places the columns */
  constructor(titles: Readonly<Record<string, string>>, places: readonly Place[]) {
    this.#titles = titles;
    this.#places = places;
  }

  /** Characters of a line. */
  get width(): number {
    return this.#places.reduce((sum, place) => sum + widthOf(place), titleWidth);
  }

  add({ scenario: { ids }, place, outcome }: Result): void {
    const group = ids[0]?.replace(/-.*/, "") ?? "";
    const row = this.#counts.get(group) ?? new Map<Place, Record<Outcome, number>>();
    this.#counts.set(group, row);
    const cell = row.get(place) ?? { passed: 0, failed: 0, "not-applicable": 0, "not-run": 0 };
    row.set(place, cell);
    cell[outcome] += 1;
  }

  /** Its lines, a head first. A cell says how many have passed, and how many have not; `–` where nothing applies. Default without colours. */
  lines(paint: Output["paint"] = (_style, text) => text): string[] {
    const head = this.#places.map((place) => place.padStart(widthOf(place))).join("");
    const rows = Object.entries(this.#titles).flatMap(([letter, title]) => {
      const row = this.#counts.get(letter);
      if (row === undefined) return [];
      const cells = this.#places.map((place) => {
        const { passed, failed, ...open } = row.get(place) ?? none;
        const text =
          failed > 0 ? `${passed} ✗${failed}` : passed > 0 ? `${passed}` : open["not-run"] > 0 ? "…" : "–";
        return paint(failed > 0 ? "red" : passed > 0 ? "green" : "dim", text.padStart(widthOf(place)));
      });
      return [`${`${letter} ${title}`.slice(0, titleWidth).padEnd(titleWidth)}${cells.join("")}`];
    });
    return [`${" ".repeat(titleWidth)}${head}`, ...rows];
  }
}

const none: Readonly<Record<Outcome, number>> = { passed: 0, failed: 0, "not-applicable": 0, "not-run": 0 };

function widthOf(place: Place): number {
  return Math.max(place.length, 6) + 2;
}
