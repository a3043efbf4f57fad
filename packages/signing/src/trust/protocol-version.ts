/** By major, then minor number; what is no version is below all that are. */
export function compareVersions(one: string, other: string): number {
  const [[major, minor], [otherMajor, otherMinor]] = [readVersion(one), readVersion(other)];
  return major - otherMajor || minor - otherMinor;
}

/** The highest of some versions; an empty text when none of them is one. */
export function highestVersion(versions: Iterable<string>): string {
  let found = "";
  for (const version of versions) {
    if (compareVersions(version, found) > 0) {
      found = version;
    }
  }
  return found;
}

/** Equal for protocol versions that are the same to clients. */
export function readVersion(text: string): readonly [major: number, minor: number] {
  const [, major, minor] = /^(\d{1,9})(?:\.(\d{1,9}))?(?:\.|$)/.exec(text) ?? [];
  return major === undefined ? [-1, 0] : [Number(major), Number(minor ?? 0)];
}
