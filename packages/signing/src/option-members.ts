import { SigningError } from "./keys/key-type.ts";

type Words<Text extends string> = Text extends `${infer First} ${infer Rest}` ? First | Words<Rest> : Text;

/** The names of all members of a type, as a list of words: one that is missing or too many does not compile. */
type MembersOf<T, Text extends string> = [Words<Text>, keyof T] extends [keyof T, Words<Text>] ? Text : never;

/**
 * Refuses members that would not be read: one that is misspelled, or stands in the wrong place, would protect nothing, and its
 * author would not notice. Members that are undefined say nothing.
 *
 * @throws TypeError that names the member
 */
export function checkMembers<T extends object, const Text extends string>(
  kind: string,
  value: T,
  members: MembersOf<T, Text>,
  refuse: (problem: string) => Error = (problem) => new TypeError(problem),
): void {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw refuse(`${kind}: must be an object`);
  }
  const own: readonly string[] = members.split(" ");
  for (const [member, said] of Object.entries(value)) {
    if (said === undefined || own.includes(member)) continue;
    throw refuse(`${JSON.stringify(member)} is not a member of ${kind}; its members are ${own.join(", ")}`);
  }
}

/** The same of those who sign or make keys. @throws SigningError */
export function checkSigningMembers<T extends object, const Text extends string>(
  kind: string,
  value: T,
  members: MembersOf<T, Text>,
): void {
  const hint = "take it out, or put it where it belongs";
  checkMembers(kind, value, members, (problem) => new SigningError(problem, hint));
}
