import { type Extractor, maxFacts } from "../extractor.ts";
import type { Fact } from "../fact.ts";
import { createSlices } from "../slices.ts";
import type { Transcript, Turn } from "../transcript.ts";
import { type Rule, rules } from "./rules.ts";
import { isDoubtful, isJoke, statementsOf } from "./sentences.ts";

/**
 * Reads facts by plain rules, in English. It would rather miss one than invent one: what it does not understand, what
 * is asked, doubted or quoted, and what turns out to be a joke is no fact.
 */
export const ruleExtractor: Extractor = {
  async extract(transcript, signal) {
    const facts: Fact[] = [];
    const nextPiece = createSlices(signal);
    const next = nextOfSpeakers(transcript.turns);
    for (const [index, turn] of transcript.turns.entries()) {
      if (facts.length > maxFacts) {
        break;
      }
      for (const sentence of isMeant(turn, next[index]) ? statementsOf(turn.text) : []) {
        await nextPiece();
        facts.push(...readSentence({ transcript, turn, number: index + 1, sentence }));
      }
    }
    return facts;
  },
};

/** For each turn the next one of the same person. */
function nextOfSpeakers(turns: readonly Turn[]): readonly (Turn | undefined)[] {
  const next = new Map<string, Turn>();
  const backwards = turns.toReversed().map((turn) => {
    const later = next.get(turn.speaker);
    next.set(turn.speaker, turn);
    return later;
  });
  return backwards.toReversed();
}

/** "I moved to Iceland." – "WHAT?" – "Just kidding.": the last one takes the first one back. */
function isMeant(turn: Turn, next: Turn | undefined): boolean {
  return !isJoke(turn.text) && (next === undefined || !isJoke(next.text));
}

function readSentence(place: Place): readonly Fact[] {
  const { sentence } = place;
  return rules.flatMap((rule) =>
    [...sentence.matchAll(rule.pattern)]
      .filter((match) => !isDoubtful(sentence.slice(0, match.index)))
      .flatMap((match) => readMatch(rule, match, place)),
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
