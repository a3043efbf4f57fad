import type { Question } from "@a2a-connect/server";
import type { JsonObject } from "@bufbuild/protobuf";
import { type Contradiction, neither } from "./contradictions.ts";
import type { Evidence } from "./fact.ts";
import type { StatedValue } from "./topics.ts";

/**
 * What is asked about a contradiction: in words, with the choices, and in `details` the same with all evidence, for
 * programs (`Clash`).
 *
 * @param number of how many questions this is which, from 1
 */
export function toQuestion(contradiction: Contradiction, number: number, total: number): Question {
  const { subject, predicate, candidates } = contradiction;
  const choices = [...candidates.map(({ value }) => value), neither];
  const lines = candidates.map(({ value, evidence }) => `  ${value}: ${evidence.map(cite).join("; ")}`);
  return {
    text: `Question ${number} of ${total}: ${subject}, ${predicate.replaceAll("_", " ")}?\n${lines.join("\n")}`,
    choices,
    schema: { type: "string", enum: choices },
    details: {
      kind: "contradiction",
      subject,
      predicate,
      candidates: candidates.map(toJson),
    },
  };
}

/** “I moved to Lund on Friday.” (Maya Lindqvist, 2025-05-04, 26-moving-boxes, turn 1) */
function cite({ quote, saidBy, at, transcript, turn }: Evidence): string {
  return `“${quote}” (${saidBy}, ${at.slice(0, 10)}, ${transcript}, turn ${turn})`;
}

function toJson({ value, evidence }: StatedValue): JsonObject {
  return { value, evidence: evidence.map((each) => ({ ...each })) };
}
