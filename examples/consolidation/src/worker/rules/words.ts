// Sources of patterns, for `rules.ts`. None of them can take more than linear time: no repetition is within another one of
// the same characters.

const capitalised = "\\p{Lu}[\\p{L}\\p{M}&'’-]+";

/** "Lund", "Skåne University Hospital", "Northwind Labs Ltd.": capitalised words in a row. */
export const properName = `${capitalised}(?: (?:of |the |de |del )?${capitalised}){0,4}`;

/** Words that begin a sentence, and are nobody's name. */
const noName =
  "(?:And|But|So|If|When|While|Since|Because|Maybe|Perhaps|Does|Did|Is|Was|Has|What|Where|How|She|He|They|It|We|You|Who|This|" +
  "That|There|(?:Every|No|Some|Any)(?:body|one|thing)?|One)";

/** "Maya", "Tomás Herrera". */
export const person: string = `(?<!\\p{L})(?!${noName}\\b)${capitalised}(?: ${capitalised})?`;

export const language = "\\p{Lu}\\p{Ll}+";

export const occupation = [
  "(?:head )?nurse",
  "(?:software )?engineer",
  "product manager",
  "(?:volcano )?guide",
  "architect",
  "astronaut",
  "baker",
  "chemist",
  "dentist",
  "doctor",
  "lawyer",
  "pianist",
  "receptionist",
  "teacher",
  "translator",
].join("|");

export const instrument = "cello|violin|viola|flute|oboe|clarinet|guitar|piano|trumpet|drums|theremin|harp";

export const carMake = "Volkswagen|Volvo|Skoda|Seat|Toyota|Renault|Fiat|Ford|Tesla|Opel|Peugeot";

/** "peanuts", "bee stings": up to the first comma or the like. */
export const thing = "\\p{Ll}+(?: (?!and\\b|so\\b|but\\b|or\\b|since\\b|because\\b|in\\b)\\p{Ll}+)?";
