const maxSentence = 400;

/** Quotation marks, and what ends what they begin. */
const closingMarks: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ["“", "”"],
  ["„", "“"],
  ["«", "»"],
]);

/**
 * The sentences of a turn that state something: questions are left out, and so is what stands in quotation marks, since
 * that was said by somebody else.
 */
export function statementsOf(text: string): readonly string[] {
  return withoutQuotations(text)
    .split(/(?<=[.!?…])\s+(?=[\p{Lu}{("'¿¡])/u)
    .filter((sentence) => !sentence.endsWith("?") && sentence.length <= maxSentence);
}

/** With "…" for each quotation. A pattern would look for the end of the text after each mark that nothing ends. */
function withoutQuotations(text: string): string {
  let rest = "";
  let end = 0;
  const unended = new Set<string>();
  for (const { 0: mark, index } of text.matchAll(/["“„«]/g)) {
    if (index >= end && !unended.has(mark)) {
      const closing = text.indexOf(closingMarks.get(mark) ?? mark, index + 1);
      if (closing < 0) {
        unended.add(mark);
      } else {
        rest += `${text.slice(end, index)}…`;
        end = closing + 1;
      }
    }
  }
  return rest + text.slice(end);
}

/** Words before a statement in the same clause that make it none: "if I …", "I wish I …", "somebody told me I …". */
const doubt =
  /\b(?:if|when|not|never|no|nobody|wish|maybe|perhaps|might|would|could|thought|guess|suppose|told|heard|says|said|pretend|imagine|dream(?:ed|t)?|ideal|almost|used to)\b|n't\b/i;

/** Whether what comes before the statement, back to the last comma or the like, makes it doubtful. */
export function isDoubtful(before: string): boolean {
  return doubt.test(before.slice(Math.max(...[...",;:–—("].map((mark) => before.lastIndexOf(mark))) + 1));
}

const joke = /\b(?:(?:just |only )?(?:kidding|joking)|ha(?:ha)+|lol|rofl|jk)\b|[😂🤣😜]/iu;

/** Whether somebody says here that they were not serious: with this turn, and with the one before it. */
export function isJoke(text: string): boolean {
  return joke.test(text);
}
