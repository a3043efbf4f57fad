/** Where a setting, a credential or the name of an agent is from. */
export type SettingSource = "flag" | "environment" | "file" | "found-file" | "found-env" | "built-in";

/** Something that is said, and by which source. */
export interface Provenance {
  readonly source: SettingSource;
  /** The flag, the variable or the path of the file; the default in words for what is built in. */
  readonly where: string;
}

/**
 * How far a source is trusted. What the user has typed, exported, or put into a file of his own or one that he names (`file`) is
 * equally his. What lies in the working directory or above may have come with a project of another author: `a2a.config.yaml`
 * or a card (`found-file`), and `.env`, which programs read without being asked (`found-env`).
 */
const trust: Readonly<Record<SettingSource, number>> = {
  flag: 3,
  environment: 3,
  file: 3,
  "found-file": 2,
  "found-env": 1,
  "built-in": 0,
};

export function isOwn(source: SettingSource): boolean {
  return trust[source] === trust.flag;
}

export function weaker(one: SettingSource, other: SettingSource): SettingSource {
  return trust[one] <= trust[other] ? one : other;
}

/**
 * Whether a credential may go, unasked, to an agent: only where a source that is trusted as much, or more, says which agent it is.
 * Otherwise the author of the less trusted one would decide where the credential goes.
 */
export function mayReceive(agent: SettingSource, credential: SettingSource): boolean {
  return trust[agent] >= trust[credential];
}
