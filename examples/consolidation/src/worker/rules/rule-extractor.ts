import type { Extractor } from "../extractor.ts";
import type { Fact } from "../fact.ts";
import type { Transcript, Turn } from "../transcript.ts";
import { type Rule, rules } from "./rules.ts";
import { isDoubtful, isJoke, statementsOf } from "./sentences.ts";

/**
 * Reads facts by plain rules, in English. It would rather miss one than invent one: what it does not understand, what
 * is asked, doubted or quoted, and what turns out to be a joke is no fact.
 */
export const ruleExtractor: Extractor = {
  extract: (transcript) =>
    transcript.turns.flatMap((turn, index) =>
      isMeant(transcript.turns, index) ? readTurn(transcript, turn, index + 1) : [],
    ),
};

/** "I moved to Iceland." – "WHAT?" – "Just kidding.": the last one takes the first one back. */
function isMeant(turns: readonly Turn[], index: number): boolean {
  const spoken = turns[index];
  const next = turns.slice(index + 1).find(({ speaker }) => speaker === spoken?.speaker);
  return ![spoken, next].some((turn) => turn !== undefined && isJoke(turn.text));
}

function readTurn(transcript: Transcript, turn: Turn, number: number): readonly Fact[] {
  return statementsOf(turn.text).flatMap((sentence) =>
    rules.flatMap((rule) =>
      [...sentence.matchAll(rule.pattern)]
        .filter((match) => !isDoubtful(sentence.slice(0, match.index)))
        .flatMap((match) => readMatch(rule, match, { transcript, turn, number, sentence })),
    ),
  );
}

/** Where a match was found. */
interface Place {
  readonly transcript: Transcript;
  readonly turn: Turn;
  readonly number: number;
  readonly sentence: string;
}

function readMatch(rule: Rule, match: RegExpExecArray, place: Place): readonly Fact[] {
  const { who, what, value = "", kind = "", changed } = match.groups ?? {};
  const values = rule.list === undefined ? [value] : value.split(rule.list);
  return values.map((each) => ({
    subject: what ?? who ?? place.turn.speaker,
    about: what === undefined ? "person" : "arrangement",
    predicate: rule.predicate.replace("$kind", kind),
    value: each,
    evidence: {
      transcript: place.transcript.id,
      turn: place.number,
      at: place.transcript.startedAt,
      saidBy: place.turn.speaker,
      quote: place.sentence,
      firsthand: who === undefined,
      change: rule.change ?? changed !== undefined,
    },
  }));
}
