import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkImports } from "./import-rules.ts";
import { checkManifests, checkProjects } from "./manifest-rules.ts";
import { type Import, readImports } from "./read-imports.ts";
import { readReferences, readWorkspace, type Workspace, type WorkspacePackage } from "./workspace.ts";

describe("the workspace", () => {
  const workspace = readWorkspace();

  it("is read: it has modules, and they have imports", () => {
    const modules = workspace.packages.flatMap((each) => each.modules);
    const imports = modules.flatMap((module) => module.imports);
    console.info(
      `layering: ${workspace.packages.length} packages, ${modules.length} modules, ${imports.length} imports`,
    );
    expect(workspace.packages.filter(({ folder }) => folder.startsWith("packages/"))).not.toHaveLength(0);
    expect(modules).not.toHaveLength(0);
    expect(imports).not.toHaveLength(0);
  });

  it("imports along the arrows only", () => expect(checkImports(workspace)).toStrictEqual([]));

  it("reaches nothing of Node from the entry of the conformance kit for pages", () => {
    const modules = new Map(
      workspace.packages.flatMap((each) => each.modules).map((module) => [module.path, module]),
    );
    const reached = new Set(["packages/conformance/src/browser.ts"]);
    const others = new Set<string>();
    for (const path of reached) {
      for (const { specifier, lazy } of modules.get(path)?.imports ?? []) {
        if (lazy) continue;
        if (specifier.startsWith(".")) reached.add(join(dirname(path), specifier));
        else others.add(specifier);
      }
    }
    expect(reached.size).toBeGreaterThan(20);
    expect([...others].filter((name) => name.startsWith("node:") || name.includes("connect-node"))).toEqual(
      [],
    );
  });

  it("declares exactly the packages that it imports", () =>
    expect(checkManifests(workspace)).toStrictEqual([]));

  it("references exactly the projects that it imports", () => {
    expect(checkProjects(workspace)).toStrictEqual([]);
  });

  it("is built whole: the root projects reference every package", () => {
    const folders = new Set(
      workspace.packages.flatMap(({ folder, references }) => (references ? [folder] : [])),
    );
    expect(readReferences("tsconfig.rest.json")).toStrictEqual(folders);
    expect(readReferences("tsconfig.json")).toStrictEqual(new Set([...folders, "tsconfig.rest.json"]));
  });
});

it("reads every kind of import", () => {
  const text = `
    import { a } from "static";
    import type { B } from "type";
    import "effect";
    export * from "all";
    export type { C } from "named";
    export const own = await import("lazy");
    export type D = import("in-a-type").D;
    // import "comment";
    export const text = 'import "string"';
  `;
  expect(
    readImports("x.ts", text).map(({ specifier, lazy }) => (lazy ? `${specifier}, lazy` : specifier)),
  ).toStrictEqual(["static", "type, lazy", "effect", "all", "named, lazy", "lazy, lazy", "in-a-type, lazy"]);
  for (const computed of ["import(name)", "import(name.href)", "import(toUrl(name).href)"]) {
    expect(() => readImports("x.ts", computed)).toThrow("computed");
  }
  expect(readImports("x.ts", "import(pathToFileURL(path).href)")).toStrictEqual([]);
});

/** A workspace of gen, core, bindings, server, node, testing, conformance and cli, in which one module imports. */
function workspaceWith(path: string, imported: Partial<Import> & { specifier: string }): Workspace {
  const rooms = ["core", "bindings", "server", "node", "testing", "conformance", "cli", "inspector"];
  const folders = ["gen", "test", ...rooms.map((room) => `packages/${room}`)];
  const server = "packages/server/src";
  const engine = `${server}/engine/task-engine`;
  const others = ["store/task-store.ts", "agent-server.ts", "host/agent-host.ts"];
  const paths = [path, ...others.map((each) => `${server}/${each}`), `${engine}.ts`, `${engine}.test.ts`];
  return {
    rootTools: new Set(["vitest"]),
    packages: folders.map((folder): WorkspacePackage => {
      const room = folder.replace("packages/", "");
      const name = `@x/${room}`;
      return {
        folder,
        room,
        name,
        doors: new Set([name]),
        dependencies: new Set(),
        peerDependencies: new Set(),
        devDependencies: new Set(),
        references: room === "test" ? undefined : new Set(),
        ambientTypes: [],
        modules: [...new Set(paths)]
          .filter((each) => each.startsWith(`${folder}/`))
          .map((each) => ({
            path: each,
            test: each.endsWith(".test.ts"),
            bundled: false,
            imports: each === path ? [{ lazy: false, ...imported }] : [],
          })),
      };
    }),
  };
}

describe("an import along the arrows", () => {
  for (const [path, specifier, lazy] of [
    ["packages/core/src/a.ts", "@x/gen"],
    ["packages/node/src/a.ts", "@x/core"],
    ["packages/node/src/a.ts", "node:http"],
    ["packages/core/src/a.test.ts", "node:fs"],
    ["packages/bindings/src/a.test.ts", "@x/testing"],
    ["packages/bindings/src/a.test.ts", "@x/node"],
    ["packages/cli/src/a.ts", "@x/conformance", true],
    ["test/a.test.ts", "@x/conformance"],
    ["test/cli/a.test.ts", "../../packages/cli/test-support/run-command.ts"],
    ["packages/server/src/engine/a.ts", "../store/task-store.ts"],
    ["packages/server/src/agent-server.ts", "./engine/task-engine.ts"],
    ["packages/server/src/host/a.ts", "../agent-server.ts"],
    ["packages/server/src/index.ts", "./host/agent-host.ts"],
  ] as const) {
    it(`passes: ${path} → ${specifier}`, () => {
      expect(checkImports(workspaceWith(path, { specifier, lazy: lazy ?? false }))).toStrictEqual([]);
    });
  }
});

describe("an import against the arrows", () => {
  for (const [path, specifier, problem] of [
    ["packages/core/src/a.ts", "@x/bindings", "core is not right of bindings"],
    ["packages/bindings/src/a.ts", "@x/server", "bindings is not right of server"],
    ["packages/bindings/src/a.test.ts", "@x/server", "bindings is not right of server"],
    ["packages/testing/src/a.ts", "@x/conformance", "testing is not right of conformance"],
    ["packages/cli/src/a.ts", "@x/conformance", "cli is not right of conformance"],
    ["packages/inspector/src/a.ts", "@x/server", "inspector is not right of server"],
    ["packages/server/src/a.ts", "node:fs", "every runtime"],
    ["packages/server/src/engine/a.ts", "fs", "every runtime"],
    ["packages/server/src/engine/a.ts", "@x/core/src/a.ts", "deep import"],
    ["packages/server/src/store/a.ts", "../engine/task-engine.ts", "store is not right of engine"],
    ["packages/server/src/agent-server.ts", "./host/agent-host.ts", "agent-server is not right of host"],
    ["packages/server/src/cellar/a.ts", "../store/task-store.ts", "do not know the server's room cellar"],
    ["packages/server/src/engine/a.ts", "../../../core/src/a.ts", "leaves its package"],
    ["packages/server/src/engine/a.ts", "./task-engine", "no file extension"],
    ["packages/node/src/a.test.ts", "../../cli/test-support/run-command.ts", "leaves its package"],
    ["test/cli/a.test.ts", "../../packages/cli/src/run-cli.ts", "leaves its package"],
    ["packages/server/src/engine/a.ts", "./gone.ts", "no such file"],
    ["packages/server/src/engine/a.ts", "./task-engine.test.ts", "does not import tests"],
  ] as const) {
    it(`fails: ${path} → ${specifier}`, () => {
      expect(checkImports(workspaceWith(path, { specifier }))).toStrictEqual([
        expect.stringContaining(problem),
      ]);
    });
  }
});

describe("a manifest and a project", () => {
  it("fail for what is imported and not declared", () => {
    const workspace = workspaceWith("packages/core/src/a.ts", { specifier: "@x/gen" });
    expect(checkManifests(workspace)).toStrictEqual([expect.stringContaining("@x/gen is imported")]);
    expect(checkProjects(workspace)).toStrictEqual(["packages/core/tsconfig.json: lacks gen"]);
  });

  it("fail for test support of a package that is not declared", () => {
    const specifier = "../../packages/cli/test-support/run-command.ts";
    expect(checkManifests(workspaceWith("test/cli/a.test.ts", { specifier }))).toStrictEqual([
      "test: @x/cli is imported and not among the dependencies",
    ]);
  });

  it("fail for what is declared and not imported", () => {
    const workspace = workspaceWith("packages/core/src/a.ts", { specifier: "node:fs" });
    const packages = workspace.packages.map((each) =>
      each.room === "core"
        ? {
            ...each,
            dependencies: new Set(["one"]),
            devDependencies: new Set(["two"]),
            references: new Set(["gen"]),
          }
        : each,
    );
    expect(checkManifests({ ...workspace, packages })).toStrictEqual([
      "packages/core: one is a dependency that nothing imports",
      "packages/core: two is a devDependency that no test imports",
    ]);
    expect(checkProjects({ ...workspace, packages })).toStrictEqual([
      "packages/core/tsconfig.json: gen is not imported",
    ]);
  });

  it("fail for a runtime-neutral package with the types of a runtime", () => {
    const workspace = workspaceWith("packages/core/src/a.ts", { specifier: "node:fs" });
    const packages = workspace.packages.map((each) => ({ ...each, ambientTypes: ["node"] }));
    expect(checkProjects({ ...workspace, packages })).toStrictEqual(
      ["core", "bindings", "server"].map((room) => `packages/${room}/tsconfig.json: has the types of node`),
    );
  });

  it("fail for a dependency that only a test imports and nobody declares, and pass for a tool of the root", () => {
    const check = (specifier: string) =>
      checkManifests(workspaceWith("packages/core/src/a.test.ts", { specifier }));
    expect(check("fast-check")).toStrictEqual([expect.stringContaining("fast-check is imported by tests")]);
    expect(check("vitest")).toStrictEqual([]);
  });
});
