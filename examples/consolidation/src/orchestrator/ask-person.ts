import type { Interface } from "node:readline";
import { neither } from "../worker/contradictions.ts";
import type { Clash, ClashResolver } from "./clash.ts";

/**
 * Asks whoever sits at the terminal, with the evidence of each value. An empty line is no answer, and neither is the end of
 * the input: the task goes on waiting.
 */
export function askPerson(terminal: Interface, tell: (words: string) => void): ClashResolver {
  const lines = terminal[Symbol.asyncIterator]();
  return async (clash) => {
    const values = [...clash.candidates.map(({ value }) => value), neither];
    tell(describe(clash, values));
    for (;;) {
      tell(`1 to ${values.length}, or nothing to answer later: `);
      const { value: line = "", done } = await lines.next();
      const given = line.trim();
      const value = values[Number(given) - 1] ?? values.find((each) => each === given);
      if (value !== undefined || given === "" || done === true) {
        return value;
      }
    }
  };
}

function describe({ subject, predicate, candidates }: Clash, values: readonly string[]): string {
  const lines = values.flatMap((value, index) => [
    `  ${index + 1}  ${value}`,
    ...(candidates[index]?.evidence ?? []).map(
      ({ quote, saidBy, at }) => `       “${quote}” (${saidBy}, ${at.slice(0, 10)})`,
    ),
  ]);
  return `\n${subject}: ${predicate.replaceAll("_", " ")}?\n${lines.join("\n")}\n`;
}
