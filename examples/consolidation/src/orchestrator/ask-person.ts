import { createInterface } from "node:readline/promises";
import { neither } from "../worker/contradictions.ts";
import type { Clash, ClashResolver } from "./clash.ts";

/**
 * Asks whoever sits at the terminal, with the evidence of each value. An empty line is no answer: the task goes on
 * waiting.
 */
export function askPerson(input: NodeJS.ReadableStream, output: NodeJS.WritableStream): ClashResolver {
  return async (clash) => {
    using terminal = createInterface({ input, output });
    const values = [...clash.candidates.map(({ value }) => value), neither];
    output.write(describe(clash, values));
    for (;;) {
      const line = (await terminal.question(`1 to ${values.length}, or nothing to answer later: `)).trim();
      const value = values[Number(line) - 1] ?? values.find((each) => each === line);
      if (value !== undefined || line === "") {
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
