import type { AgentClient } from "../agent-client.ts";
import type { SendOptions } from "../call-options.ts";
import type { Answer, Question, Resolver } from "./run-types.ts";

/** A fixed answer for questions of one kind. */
export interface AnswerRule {
  /** Text in the question (case aside), a pattern, or a function of it. */
  readonly when: string | RegExp | ((question: Question) => boolean);
  readonly answer: Answer | ((question: Question) => Answer | Promise<Answer>);
}

/**
 * Answers by the first rule that matches. Otherwise it calls `fallback`; without one the run ends with an
 * InputRequiredError.
 */
export function answerByRules(rules: readonly AnswerRule[], fallback?: Resolver): Resolver {
  return (question) => {
    const rule = rules.find(({ when }) => fits(when, question));
    if (rule === undefined) {
      return fallback?.(question);
    }
    return typeof rule.answer === "function" ? rule.answer(question) : rule.answer;
  };
}

function fits(when: AnswerRule["when"], question: Question): boolean {
  if (typeof when === "function") {
    return when(question);
  }
  return typeof when === "string"
    ? question.text.toLowerCase().includes(when.toLowerCase())
    : question.text.search(when) !== -1; // unlike test(), it does not depend on a pattern's lastIndex
}

/**
 * Asks another agent each question, and returns its answer: the text of its result, or the data of its first artifact
 * when the question has a schema. A question with choices is sent with them.
 *
 * @param options for example the skill that shall answer
 * @throws the error of the other agent's run; the first task can still be answered then
 */
export function askAgent(agent: Pick<AgentClient, "run">, options: SendOptions = {}): Resolver {
  return async ({ text, choices, schema, signal }) => {
    const question =
      choices === undefined ? text : `${text}\nAnswer with exactly one of: ${choices.join(", ")}.`;
    const result = await agent.run(question, { ...options, signal });
    const [first] = result.artifacts;
    if (schema !== undefined && first !== undefined) {
      return first.parts;
    }
    return result.text().trim();
  };
}
