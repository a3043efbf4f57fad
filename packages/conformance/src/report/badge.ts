import { type Markup, markup } from "./markup.ts";
import { type ConformanceReport, type Verdict, verdictOf } from "./report.ts";

const colours: Readonly<Record<Verdict, string>> = {
  passed: "#1a7f37",
  failed: "#c62828",
  incomplete: "#8a6d00",
};

/** A report as a badge for a README: SVG. @param strict as for `verdictOf` */
export function renderBadge(report: ConformanceReport, strict = false): string {
  const verdict = verdictOf(report, strict);
  const label = `A2A ${report.dialect.spec}`;
  const message = messageOf(report, verdict, strict);
  const [left, right] = [widthOf(label), widthOf(message)];
  const word = (text: string, x: number): Markup =>
    markup`<text x="${x}" y="14" text-anchor="middle">${text}</text>`;
  const { text } =
    markup`<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="20" role="img" aria-label="${label}: ${message}">
  <title>${label}: ${message}</title>
  <clipPath id="round"><rect width="${left + right}" height="20" rx="3"/></clipPath>
  <g clip-path="url(#round)">
    <rect width="${left}" height="20" fill="#444"/>
    <rect x="${left}" width="${right}" height="20" fill="${colours[verdict]}"/>
  </g>
  <g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">
    ${word(label, left / 2)}
    ${word(message, left + right / 2)}
  </g>
</svg>
`;
  return text;
}

function messageOf({ server, tallies }: ConformanceReport, verdict: Verdict, strict: boolean): string {
  const count = server.wires.length;
  if (verdict === "passed") return `conforms over ${count} ${count === 1 ? "wire" : "wires"}`;
  if (verdict === "incomplete") return "not all was tried";
  const failed = tallies.must.failed + (strict ? tallies.should.failed : 0);
  return `${failed} ${failed === 1 ? "check fails" : "checks fail"}`;
}

/** About what Verdana needs. */
function widthOf(text: string): number {
  return Math.round(text.length * 6.6) + 12;
}
