// What every published manifest says besides what is its own: who made it, and where its sources and its issues are.
import { readFileSync } from "node:fs";
import { relative } from "node:path";

const root = import.meta.dirname;
const { author, repository, keywords } = JSON.parse(readFileSync(`${root}/publishing.json`, "utf8"));

export const hooks = {
  beforePacking(manifest, directory) {
    const { scripts, devDependencies, ...published } = manifest;
    const folder = relative(root, directory);
    return {
      ...published,
      author,
      homepage: `${repository}/tree/main/${folder}#readme`, // npm shows relative links of a README as links into this folder
      repository: { type: "git", url: `git+${repository}.git`, directory: folder },
      bugs: `${repository}/issues`,
      keywords,
    };
  },
};
