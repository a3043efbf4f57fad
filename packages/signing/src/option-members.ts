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
): void {
  const problem = findProblem(kind, value, members);
  if (problem !== undefined) throw new TypeError(problem);
}

/** The same of those who sign or make keys. @throws SigningError */
export function checkSigningMembers<T extends object, const Text extends string>(
  kind: string,
  value: T,
  members: MembersOf<T, Text>,
): void {
  const problem = findProblem(kind, value, members);
  if (problem !== undefined) throw new SigningError(problem, "take it out, or put it where it belongs");
}

function findProblem(kind: string, value: unknown, members: string): string | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return `${kind}: must be an object`;
  const own = members.split(" ");
  const [stray] =
    Object.entries(value).find(([member, said]) => said !== undefined && !own.includes(member)) ?? [];
  if (stray === undefined) return undefined;
  return `${JSON.stringify(stray)} is not a member of ${kind}; its members are ${own.join(", ")}`;
}
