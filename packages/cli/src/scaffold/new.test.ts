import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { installPackages } from "../../test-support/bundled-program.ts";
import { field } from "../../test-support/fields.ts";
import { runCommand, spawnCommand } from "../../test-support/run-command.ts";
import { kinds } from "./create-project.ts";

const root = fileURLToPath(new URL("../../../..", import.meta.url));
const run = promisify(execFile);
let directory: string;

beforeAll(async () => {
  directory = await realpath(await mkdtemp(join(tmpdir(), "a2a-new-")));
});

afterAll(() => rm(directory, { recursive: true }));

const create = (...args: string[]) => runCommand(["new", ...args], { cwd: directory });

/** What `npm install` would do, with the packages of this workspace. */
async function install(project: string): Promise<void> {
  const manifest = JSON.parse(await readFile(join(project, "package.json"), "utf8")) as Record<
    "dependencies" | "devDependencies",
    Record<string, string> // as we write it
  >;
  await installPackages(project, Object.keys(manifest.dependencies));
  for (const name of Object.keys(manifest.devDependencies)) {
    const installed = join(project, "node_modules", name);
    await mkdir(dirname(installed), { recursive: true });
    await symlink(join(root, "node_modules", name), installed);
  }
}

for (const durable of [false, true]) {
  const kind = durable ? "durable" : "turn";

  describe(`a project with a ${kind} executor`, () => {
    const project = () => join(directory, `my-${kind}`);

    beforeAll(async () => {
      const { stdout, stderr, exitCode } = await create(`my-${kind}`, ...(durable ? ["--durable"] : []));
      expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
      expect(field(stdout, "Directory")).toBe(`my-${kind}`);
      expect(stdout).toContain("Next steps:\ncd my-");
      await install(project());
    });

    it("has what it needs", async () => {
      const names = (await readdir(project())).filter((name) => name !== "node_modules").sort();
      expect(names).toEqual([
        ".dockerignore",
        ".gitignore",
        "Dockerfile",
        "README.md",
        "agent.test.ts",
        "agent.ts",
        "package.json",
        "tsconfig.json",
      ]);
    });

    it("passes its own test", async () => {
      const vitest = join(project(), "node_modules", "vitest", "vitest.mjs");
      const { stdout } = await run(process.execPath, [vitest, "run", "--testTimeout=60000"], {
        cwd: project(),
        env: { ...process.env, NO_COLOR: "1" },
      });
      expect(stdout).toMatch(/Tests\s+2 passed/);
    }, 60_000);

    it("passes its own type check", async () => {
      const tsc = join(project(), "node_modules", "typescript", "bin", "tsc");
      // Several checkers would each look at the types that they share: half as much work again.
      const args = [tsc, "--checkers", "1"];
      const { stdout } = await run(process.execPath, args, { cwd: project() }).catch((error: unknown) => {
        throw new Error((error as { stdout: string }).stdout); // what tsc says goes to stdout
      });
      expect(stdout).toBe("");
    }, 60_000);

    it("is served, does what its example says, and does no more for a long message", async () => {
      const server = spawnCommand(["serve", "agent.ts", "--port", "0"], { cwd: project() });
      onTestFinished(() => server.interrupt());
      const [, url = ""] = await server.waitFor(/Agent Card: (http:\S+)\/\.well-known/);
      const { stdout } = await runCommand(["send", "-a", url, kinds[kind].example]);
      expect(field(stdout, "State")).toBe(durable ? "TASK_STATE_INPUT_REQUIRED" : "TASK_STATE_COMPLETED");
      const long = await runCommand(["send", "-a", url, "x".repeat(20_000)]);
      expect(field(long.stdout, "State")).toBe(field(stdout, "State"));
      expect(long.stdout.length).toBeLessThan(1_000);
      server.interrupt();
      expect((await server.result).exitCode).toBe(0);
      expect(await readdir(join(project(), ".a2a"))).toContain(`my-${kind}.sqlite`);
    });
  });
}

describe("a2a new", () => {
  it("overwrites nothing, and then writes nothing at all", async () => {
    await mkdir(join(directory, "taken"));
    await writeFile(join(directory, "taken", "agent.ts"), "mine");
    const { stderr, exitCode } = await create("taken");
    expect(exitCode).toBe(2);
    expect(stderr).toContain("taken has agent.ts already; nothing was written");
    expect(await readdir(join(directory, "taken"))).toEqual(["agent.ts"]);
  });

  it("writes into a directory that has other files, where --dir says", async () => {
    await mkdir(join(directory, "given"));
    await writeFile(join(directory, "given", "notes.md"), "mine");
    const { exitCode } = await create("some-agent", "--dir", "given");
    expect(exitCode).toBe(0);
    expect(await readFile(join(directory, "given", "notes.md"), "utf8")).toBe("mine");
    expect(await readFile(join(directory, "given", "agent.ts"), "utf8")).toContain('name: "Some agent"');
  });

  it("takes a path, whose last part is the name", async () => {
    const { exitCode } = await create("agents/first/some-agent");
    expect(exitCode).toBe(0);
    const written = await readFile(join(directory, "agents/first/some-agent/package.json"), "utf8");
    expect(JSON.parse(written)).toMatchObject({ name: "some-agent" });
  });

  it("says with -o json what it wrote", async () => {
    const { stdout } = await create("json-agent", "-o", "json");
    expect(JSON.parse(stdout)).toMatchObject({
      name: "json-agent",
      directory: join(directory, "json-agent"),
      files: expect.arrayContaining(["agent.ts", "agent.test.ts"]),
    });
  });

  for (const [name, hint] of [
    ["Table Booker", "a2a new table-booker"],
    ["1st", "a2a new st"],
    ["-x", undefined],
    ["node_modules", undefined],
    ['x", injected: "', "a2a new x-injected"],
    ["a".repeat(65), `a2a new ${"a".repeat(64)}`],
    ["", undefined],
  ] as const) {
    it(`refuses ${JSON.stringify(name)} as a name`, async () => {
      const { stderr, exitCode } = await create("--", name);
      expect(exitCode).toBe(2);
      expect(stderr).toContain("cannot be the name of a project");
      if (hint !== undefined) expect(stderr).toContain(`hint: ${hint}\n`);
    });
  }
});
