import { runtimeNeutral } from "./arrows.ts";
import type { Violation } from "./import-rules.ts";
import { isBuiltin, isRelative, packageOf, testSupportOf } from "./specifier.ts";
import type { Module, Workspace, WorkspacePackage } from "./workspace.ts";

/**
 * What is wrong with the manifests: dependencies are exactly what the shipped modules import, devDependencies exactly
 * what only tests and bundled modules import, and peers are those that are imported or that a dependency needs as a peer. Peers are dev
 * dependencies too, so that the workspace installs them. Tools of the root may be left out of devDependencies.
 */
export function checkManifests({ packages, rootTools }: Workspace): Violation[] {
  const byName = new Map(packages.map((each) => [each.name, each]));
  return packages.flatMap((each) => {
    const { dependencies, peerDependencies: peers, devDependencies } = each;
    const tested = packagesImported(each, ({ test, bundled }) => test || bundled);
    // Tests and benchmarks ship nothing: one list holds all they need.
    const shipped = shipsNothing(each)
      ? new Set([...packagesImported(each, () => true), ...packagesSupporting(each, packages)])
      : packagesImported(each, ({ test, bundled }) => !test && !bundled);
    const forwarded = new Set(
      [...dependencies].flatMap((name) => [...(byName.get(name)?.peerDependencies ?? [])]),
    );
    const declared = new Set([...dependencies, ...peers]);
    const onlyTested = without(tested, declared);
    const say = (names: readonly string[], text: string) =>
      names.map((name) => `${each.folder}: ${name} ${text}`);
    return [
      ...say(without(shipped, declared), "is imported and not among the dependencies"),
      ...say(without(dependencies, shipped), "is a dependency that nothing imports"),
      ...say(without(peers, shipped, forwarded), "is a peer that nothing needs"),
      ...say(
        isPublished(each) ? without(forwarded, peers) : [],
        "is a peer of a dependency and not passed on",
      ),
      ...say(without(peers, devDependencies), "is a peer and not among the devDependencies"),
      ...say(
        shipsNothing(each) ? [] : without(onlyTested, devDependencies, rootTools),
        "is imported by tests and not among the devDependencies",
      ),
      ...say(without(devDependencies, onlyTested, peers), "is a devDependency that no test imports"),
    ];
  });
}

/**
 * What is wrong with the projects: their references are exactly the workspace packages that the shipped modules
 * import, and those of runtime-neutral packages know no runtime's globals.
 */
export function checkProjects({ packages }: Workspace): Violation[] {
  const byName = new Map(packages.map((each) => [each.name, each]));
  return packages.flatMap((each) => {
    const { references, ambientTypes, folder } = each;
    if (references === undefined) {
      return isPublished(each) ? [`${folder}: has no tsconfig.json`] : [];
    }
    const names = packagesImported(each, ({ test }) => !test);
    const wanted = [...names].flatMap((name) => byName.get(name)?.folder ?? []);
    return [
      ...without(wanted, references).map((lacking) => `${folder}/tsconfig.json: lacks ${lacking}`),
      ...without(references, wanted).map((idle) => `${folder}/tsconfig.json: ${idle} is not imported`),
      ...(runtimeNeutral.includes(each.room) ? ambientTypes : []).map(
        (types) => `${folder}/tsconfig.json: has the types of ${types}`,
      ),
    ];
  });
}

/** Names of the packages that some modules of a package import, without itself and Node's own. */
function packagesImported(
  { modules, name }: WorkspacePackage,
  choose: (module: Module) => boolean,
): ReadonlySet<string> {
  const specifiers = modules.filter(choose).flatMap(({ imports }) => imports.map((each) => each.specifier));
  const imported = specifiers.filter((each) => !isRelative(each) && !isBuiltin(each)).map(packageOf);
  return new Set(without(imported, [name]));
}

/** Names of the packages whose test support the modules of another one import. */
function packagesSupporting(
  { modules, folder }: WorkspacePackage,
  packages: readonly WorkspacePackage[],
): ReadonlySet<string> {
  const folders = modules.flatMap(({ path, imports }) =>
    imports.flatMap(({ specifier }) => (isRelative(specifier) ? (testSupportOf(path, specifier) ?? []) : [])),
  );
  const others = packages.filter((each) => each.folder !== folder && folders.includes(each.folder));
  return new Set(others.map(({ name }) => name));
}

function without(names: Iterable<string>, ...others: readonly Iterable<string>[]): string[] {
  const excluded = new Set(others.flatMap((other) => [...other]));
  return [...names].filter((name) => !excluded.has(name));
}

function shipsNothing({ room }: WorkspacePackage): boolean {
  return room === "test" || room === "bench";
}

function isPublished({ folder }: WorkspacePackage): boolean {
  return folder === "gen" || folder.startsWith("packages/");
}
