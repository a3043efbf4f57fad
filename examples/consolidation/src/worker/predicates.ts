import { dayOfYear } from "./day-of-year.ts";
import { plainText } from "./plain-text.ts";

/** What a kind of fact is like. */
export interface Predicate {
  /** `one`: two values contradict each other. `many`: a person may play two instruments. */
  readonly holds: "one" | "many";
  /** The form in which a value is kept. */
  readonly canonical: (value: string) => string;
}

const lowerCase = (value: string) => plainText(value).toLowerCase();
const withoutLegalForm = (value: string) =>
  plainText(value).replace(/,? (?:Ltd|Inc|GmbH|AB|S\.?A|LLC)\.?$/, "");

const oneOf = (canonical: Predicate["canonical"] = plainText): Predicate => ({ holds: "one", canonical });
const many = (canonical: Predicate["canonical"] = plainText): Predicate => ({ holds: "many", canonical });

const predicates: Readonly<Record<string, Predicate>> = {
  lives_in: oneOf(),
  comes_from: oneOf(),
  works_at: oneOf(withoutLegalForm),
  occupation: oneOf(lowerCase),
  birthday: oneOf((value) => dayOfYear(value) ?? plainText(value)),
  diet: oneOf(lowerCase),
  drives: oneOf(),
  shoe_size: oneOf(),
  email: oneOf(lowerCase),
  phone: oneOf((value) => value.replaceAll(/[^\d+]/g, "")),
  husband: oneOf(),
  wife: oneOf(),
  takes_place_on: oneOf((value) => dayOfYear(value) ?? plainText(value)),
  budget: oneOf((value) => lowerCase(value).replaceAll(/(?<=\d)[.,](?=\d{3})/g, "")),
  allergic_to: many(lowerCase),
  plays: many(lowerCase),
  speaks: many(),
};

/** Favourites are one each; what is not known here can hold many values, so that nobody is asked about it in vain. */
export function predicateOf(name: string): Predicate {
  if (Object.hasOwn(predicates, name)) {
    return predicates[name] ?? many();
  }
  return name.startsWith("favourite_") ? oneOf(lowerCase) : many();
}
