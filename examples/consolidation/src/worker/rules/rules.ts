import { dayPattern } from "../day-of-year.ts";
import { carMake, instrument, language, occupation, person, properName, thing } from "./words.ts";

/** One way in which people say one thing. */
export interface Rule {
  /** Kind of fact; `$kind` is what the group `kind` of the pattern has matched. */
  readonly predicate: string;
  /**
   * Groups: `value`; and who it is about: `who` (a name), `what` (an arrangement), neither: who says it. `changed`
   * matches where the words say that it is new.
   */
  readonly pattern: RegExp;
  /** Whether these words always say that something has changed. */
  readonly change?: true;
  /** Separates several values. */
  readonly list?: RegExp;
}

/** "I live" and "Maya lives". */
function says(own: string, others: string): string {
  return `(?:\\b(?:I|[Ww]e) ?(?:${own})|(?<who>${person}) (?:${others}))`;
}

/** "my birthday" and "Priya's birthday". */
function ones(noun: string): string {
  return `(?:\\b[Mm]y (?<changed>new )?|(?<who>${person})['’]s )${noun}`;
}

const am = "am|['’]m";
const since = "(?<changed> since\\b| now\\b)?";

function rule(predicate: string, pattern: string, more: Pick<Rule, "change" | "list"> = {}): Rule {
  return { predicate, pattern: new RegExp(pattern, "gu"), ...more };
}

/** All of them: what they do not understand is no fact. */
export const rules: readonly Rule[] = [
  rule("lives_in", `${says("live|am based|['’]m based", "lives|is based")} in (?<value>${properName})`),
  rule(
    "lives_in",
    `${says("(?:just |have |['’]ve )*moved", "(?:just |has )*moved")} to (?<value>${properName})`,
    {
      change: true,
    },
  ),
  rule(
    "comes_from",
    `${says(`${am}|grew up|was born`, "is|grew up|was born")} (?:from|in) (?<value>${properName})`,
  ),
  rule("works_at", `${says("work", "works")} (?:at|for) (?<value>${properName})`),
  rule("works_at", `${says("(?:have |['’]ve )?started", "(?:has )?started")} at (?<value>${properName})`, {
    change: true,
  }),
  rule("occupation", `${says(am, "is")} an? (?<value>${occupation})\\b(?! of)${since}`),
  rule("occupation", `${says(am, "is")} (?<value>retired)\\b`),
  rule("diet", `${says(am, "is")} (?:a )?(?<value>vegetarian|vegan)\\b${since}`),
  rule("diet", `${says("went|became|turned", "went|became|turned")} (?:a )?(?<value>vegetarian|vegan)\\b`, {
    change: true,
  }),
  rule("allergic_to", `${says(am, "is")} allergic to (?<value>${thing})`),
  rule("birthday", `${ones("birthday")} is (?:on )?(?<value>${dayPattern})`),
  rule("birthday", `${says("was born", "was born")} on (?<value>${dayPattern})`),
  rule("email", `${ones("e-?mail(?: address)?")} is (?<value>[\\w.+-]+@[\\w-]+(?:\\.[\\w-]+)+)`),
  rule("phone", `${ones("(?:phone )?number")} is (?<value>\\+?\\d[\\d ]{5,20}\\d)`),
  rule("drives", `${says("drive", "drives")} an? (?<value>${carMake})\\b`),
  rule(
    "drives",
    `${says("bought|have bought|['’]ve bought", "bought")} an? (?:new )?(?<value>${carMake})\\b`,
    {
      change: true,
    },
  ),
  rule("shoe_size", `${says("wear|take", "wears|takes")} a size (?<value>\\d\\d)\\b`),
  rule("plays", `${says("play", "plays")} the (?<value>${instrument})\\b`),
  rule(
    "speaks",
    `${says("speak", "speaks")} (?<value>${language}(?:(?:, | and (?:a little )?)${language})*)`,
    {
      list: /, | and (?:a little )?/,
    },
  ),
  rule(
    "favourite_$kind",
    `${ones("favou?rite (?<kind>\\p{Ll}+)")} is (?!what|not\\b|the\\b|when)(?<value>\\p{Ll}+(?: (?!and\\b|but\\b|because\\b|since\\b)\\p{Ll}+)?)`,
  ),
  rule(
    "$kind",
    `${ones("(?<kind>husband|wife|sister|brother|daughter|son|dog|cat)")}(?: is(?: called| named)?|['’]s name is)? (?<value>${person})`,
  ),
  rule(
    "$kind",
    `${says("have|got|['’]ve got", "has|got")} a (?<kind>dog|cat) (?:called|named) (?<value>${person})`,
  ),
  rule("takes_place_on", `\\b[Tt]he (?<what>\\p{Ll}+(?: \\p{Ll}+)?) is on (?<value>${dayPattern})`),
  rule(
    "takes_place_on",
    `\\b[Tt]he (?<what>\\p{Ll}+(?: \\p{Ll}+)?) (?:was|has been|is) (?:moved|postponed) to (?<value>${dayPattern})`,
    { change: true },
  ),
  rule("budget", `\\b[Tt]he (?<what>\\p{Ll}+) budget is (?<value>\\d[\\d.,]* euros)`),
];
