import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

const names = ["chromium", "chromium-browser", "google-chrome"];

/** The machine's Chromium: what `CHROMIUM` names, else the first of its usual names on the PATH. */
export function findChromium(env: NodeJS.ProcessEnv = process.env): string | undefined {
  const folders = (env["PATH"] ?? "").split(delimiter);
  return (
    env["CHROMIUM"] || folders.flatMap((folder) => names.map((name) => join(folder, name))).find(isExecutable)
  );
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
