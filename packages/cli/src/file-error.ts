/** Why a file cannot be read or written, for people. */
export interface FileError {
  /** The rest of a sentence about the file, such as `is a directory`. */
  readonly problem: string;
  readonly hint: string | undefined;
}

/** @param error what the file system threw @param use what was tried */
export function describeFileError(error: unknown, use: "read" | "written"): FileError {
  const [reason, hint] = reasonOf(error, use);
  return { problem: `cannot be ${use}${reason === undefined ? "" : `: ${reason}`}`, hint };
}

function reasonOf(error: unknown, use: "read" | "written"): readonly [reason?: string, hint?: string] {
  switch (error instanceof Error && "code" in error ? error.code : undefined) {
    case "ENOENT":
      return use === "read"
        ? ["there is no such file", "see how it is spelled, and from which directory it is looked for"]
        : ["its directory is not there", "make it first: mkdir -p"];
    case "ENOTDIR":
      return ["something on its path is no directory", "see how the path is spelled"];
    case "EISDIR":
      return ["it is a directory", "name a file in it"];
    case "EACCES":
    case "EPERM":
      return use === "read"
        ? ["you are not allowed to", "ls -l says who is; chmod lets others"]
        : ["you are not allowed to write there", "choose another place, or have its owner allow it"];
    case "EROFS":
      return ["the file system is read-only", "choose another place"];
    case "ENOSPC":
    case "EDQUOT":
      return ["there is no space left", "make room, or choose another place"];
    case "ELOOP":
      return ["its symbolic links lead in a circle", "name the file itself"];
    case "ENAMETOOLONG":
      return ["its name is too long", "choose a shorter one"];
    default:
      return [];
  }
}
