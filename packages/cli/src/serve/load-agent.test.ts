import { execFile } from "node:child_process";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findPlace } from "./module-fault.ts";

/**
 * What Node says about a mistake depends on the `package.json` above the module: where it leaves the type open, places are paths,
 * and where it names one they are URLs. One that is there and empty is as good as none.
 */
const surroundings = { undeclared: {}, commonjs: { type: "commonjs" }, module: { type: "module" } } as const;

type Surrounding = keyof typeof surroundings;

/** Modules, by what is wrong with them, and what is said of it. ES modules are called `.mts` where `.ts` is CommonJS. */
const mistakes: Readonly<Record<string, readonly [module: string, sentence: string, hint?: string]>> = {
  "no default export": ["export const agent = 1;", "NAME has no default export: it exports agent"],
  "a default export that is no agent": [
    "export default { name: 1 };",
    "the default export of NAME is not an agent",
  ],
  nothing: ["export default undefined;", "the default export of NAME is not an agent"],
  "several things that are no agents": ["export default [1, 2];", "agent 1 of NAME is not an agent"],
  "an array without agents": ["export default [];", "NAME is an array without agents"],
  "one of several that is no agent": [
    "export default { good: { card: { name: 'x' }, execute: () => [] }, bad: 1 };",
    'the agent "bad" of NAME is not an agent',
  ],
  "a name that fits no path": [
    "export default { 'a/b': { card: { name: 'x' }, execute: () => [] } };",
    "NAME: an agent's name has up to 64 lower-case letters",
  ],
  "a name that is reserved": [
    "export default { tasks: { card: { name: 'x' }, execute: () => [] } };",
    'NAME: an agent cannot be called "tasks"',
  ],
  "two agents with one name": [
    "const x = { card: { name: 'My agent' }, execute: () => [] }; export default [x, x];",
    'two agents of NAME would be called "my-agent"',
  ],
  "an agent without code": [
    'export default { card: { name: "x" } };',
    "the agent of NAME is not valid: an agent needs code",
  ],
  "a mistake in the types' syntax": ["const a = 1;\nexport default {;", "NAME:2: Unexpected token"],
  "a mistake that only V8 sees": [
    "export const a = 1;\nconst a = 2;",
    "NAME:2: Identifier 'a' has already been declared",
  ],
  "the same in what may be CommonJS": [
    "const a = 1;\nconst a = 2;",
    "NAME:2: Identifier 'a' has already been declared",
  ],
  "syntax that Node cannot leave out": [
    "\nexport enum A { B }",
    "NAME:2: TypeScript enum is not supported",
    "no enum, namespace or parameter property",
  ],
  "an error at its top level": ['\n\nthrow new Error("not today");', "NAME:3: not today"],
  "an error in a function": [
    '\nexport default class {\n  static x = (() => { throw new Error("not today"); })();\n}',
    "NAME:3: not today",
  ],
  "an error after an await": [
    '\nexport const f = async () => {\n  await 1;\n  throw new Error("not today");\n};\nawait f();',
    "NAME:4: not today",
  ],
  "something thrown that is no error": ['throw "not today";', "NAME cannot be loaded: it threw not today"],
  "an import that is not installed": [
    'import "nowhere";',
    "NAME cannot be loaded: Cannot find package 'nowhere' imported from NAME",
    "npm install",
  ],
  "an import of a file that is not there": ['import "./nowhere.ts";', "nowhere.ts' imported from NAME"],
  "an import of what is not exported": [
    '\nimport { nothing } from "./good.cjs";\nexport default nothing;',
    "NAME:2: ",
  ],
  "an import of what cannot be imported": [
    'import "./data.json";\nexport default 1;',
    "NAME cannot be loaded: Module ",
  ],
  "a mistake in what it imports, below a folder with an odd name": [
    'import "./odd (name), 1/broken.cjs";\nexport default 1;',
    "odd (name), 1/broken.cjs:2: Identifier 'a' has already been declared",
  ],
  "an error in what it imports there": [
    'import "./odd (name), 1/throws.cjs";\nexport default 1;',
    "odd (name), 1/throws.cjs:2: not today",
  ],
};

/** What they import. */
const imported = {
  "good.cjs": "exports.something = 1;",
  "data.json": "1",
  "odd (name), 1/broken.cjs": "const a = 1;\nconst a = 2;",
  "odd (name), 1/throws.cjs": '\nthrow new Error("not today");',
};

/** Modules whose names matter. */
const named = {
  "requires.cts": '\nrequire("nowhere");',
  "agent.txt": "words",
  "imports.ts": '\nimport "./good.cjs";\nexport default 1;',
  "exports.ts": "\n\nexport default 1;",
  "imports.cts": 'import "./good.cjs";\nexport default 1;',
};

let directory: string;
let said: Readonly<Record<string, { readonly message: string; readonly hint?: string }>>;

const nameOf = (surrounding: Surrounding, what: string) =>
  `${surrounding}/${what.replaceAll(/\W/g, "-")}.${surrounding === "commonjs" ? "mts" : "ts"}`;

beforeAll(async () => {
  directory = await realpath(await mkdtemp(join(tmpdir(), "a2a-load-")));
  const files: string[] = [];
  const write = async (name: string, text: string) => {
    await mkdir(dirname(join(directory, name)), { recursive: true });
    await writeFile(join(directory, name), text);
  };
  for (const surrounding of Object.keys(surroundings) as Surrounding[]) {
    // its own keys
    await write(`${surrounding}/package.json`, JSON.stringify(surroundings[surrounding]));
    for (const [name, text] of Object.entries({ ...imported, ...named })) {
      await write(`${surrounding}/${name}`, text);
      if (name in named) files.push(`${surrounding}/${name}`);
    }
    for (const [what, [module]] of Object.entries(mistakes)) {
      await write(nameOf(surrounding, what), module);
      files.push(nameOf(surrounding, what));
    }
  }
  said = await loadAll(files);
}, 60_000);

afterAll(() => rm(directory, { recursive: true }));

/** What is said of each module that cannot be loaded, by a Node of its own: a test runner imports in another way. */
async function loadAll(files: readonly string[]): Promise<typeof said> {
  const program = `
    import { loadAgents } from ${JSON.stringify(new URL("load-agent.ts", import.meta.url).href)};
    const said = {};
    for (const file of process.argv.slice(1)) {
      await loadAgents(file, process.cwd()).catch(({ message, hint }) => { said[file] = { message, hint }; });
    }
    process.stdout.write(JSON.stringify(said));`;
  const args = ["--input-type=module", "--eval", program, "--", ...files];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: directory });
  return JSON.parse(stdout);
}

for (const surrounding of Object.keys(surroundings) as Surrounding[]) {
  // its own keys
  describe(`a module that cannot be served, with a package.json of type ${surrounding}`, () => {
    for (const [what, [, sentence, hint]] of Object.entries(mistakes)) {
      it(`has ${what}`, () => {
        const name = nameOf(surrounding, what);
        const { message, hint: given } = said[name] ?? { message: "it was loaded" };
        const own = (text: string) => text.replaceAll(`${surrounding}/`, "");
        expect(own(message)).toContain(sentence.replaceAll("NAME", own(name)));
        expect(message).not.toContain("load-agent");
        expect(message).not.toContain(`${directory}/${name}`);
        if (hint !== undefined) expect(given).toContain(hint);
      });
    }

    it("requires what is not installed", () => {
      expect(said[`${surrounding}/requires.cts`]).toEqual({
        message: `${surrounding}/requires.cts cannot be loaded: ${surrounding}/requires.cts:2: Cannot find module 'nowhere'`,
        hint: expect.stringContaining("npm install"),
      });
    });

    it("is no module", () => {
      const { message } = said[`${surrounding}/agent.txt`] ?? { message: "it was loaded" };
      expect(message).toMatch(/^\w+\/agent\.txt cannot be loaded: Unknown file extension "\.txt"/);
    });
  });
}

describe("an ES module that Node takes for CommonJS", () => {
  for (const [name, line, hint] of [
    ["commonjs/imports.ts", 2, 'rename it to imports.mts, or say "type": "module" in '],
    ["commonjs/exports.ts", 3, 'rename it to exports.mts, or say "type": "module" in '],
    ["module/imports.cts", 1, "rename it to imports.mts"],
  ] as const) {
    it(`is told with line and cause: ${name}`, () => {
      expect(said[name]?.message).toMatch(new RegExp(`^${name} cannot be loaded: ${name}:${line}: `));
      expect(said[name]?.hint).toContain(hint);
    });
  }
});

describe("the place of a mistake", () => {
  for (const [text, file, line] of [
    ["Error\n    at f (/a/node_modules/b/c.js:1:2)\n    at /a/d.ts:3:4", "/a/d.ts", 3],
    ["Error\n    at f (/a/node_modules/b/c.js:1:2)\n    at node:x:3:4", "/a/node_modules/b/c.js", 1],
    ["C:\\my agents\\a (1).ts:2\nconst a = 2;\n      ^", "C:\\my agents\\a (1).ts", 2],
    ["Error: x\n    at new A (C:\\my agents\\a (1).ts:12:7)", "C:\\my agents\\a (1).ts", 12],
    ["Error: x\n    at async \\\\server\\share\\a.ts:12:7", "\\\\server\\share\\a.ts", 12],
    ["Error: at /a.ts:1:1 it says\n    at async A.f [as g] (/a b/c (d)/e.js:3:7)", "/a b/c (d)/e.js", 3],
    ["Error\n    at Object.f [as g] (node:internal/x:1:2)\n    at file:///a%20b/c.ts:4:1", "/a b/c.ts", 4],
    [
      "Error\n    at Promise.all (index 0)\n    at eval (eval at f (/a.ts:1:2), <anonymous>:1:1)",
      undefined,
      0,
    ],
  ] as const) {
    it(`is read from ${JSON.stringify(text)}`, () => {
      expect(findPlace(text)).toEqual(file && { file, line });
    });
  }
});
