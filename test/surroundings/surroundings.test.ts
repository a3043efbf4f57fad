import { execFile, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { findPlace } from "./prepare.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** What a machine may have around the tests. */
const hostile = {
  A2ACLI_AGENT_CARD: "http://hostile.invalid",
  A2ACLI_BEARER: "secret",
  EDITOR: "false",
  FORCE_COLOR: "3",
  GIT_CONFIG_GLOBAL: "/nowhere/gitconfig",
  HTTP_PROXY: "http://127.0.0.1:9",
  LC_ALL: "tr_TR.UTF-8",
  NODE_EXTRA_CA_CERTS: "/nowhere/ca.pem",
  NODE_USE_ENV_PROXY: "1",
  TZ: "Pacific/Chatham",
  XDG_CONFIG_HOME: "/nowhere/config",
  http_proxy: "http://127.0.0.1:9",
  npm_config_registry: "http://127.0.0.1:9",
};

describe("a test finds around it", () => {
  it("a home of its own, with nothing in it that a command reads", () => {
    expect(homedir()).toBe(process.env["HOME"]);
    expect(dirname(homedir())).toBe(dirname(tmpdir()));
    expect(existsSync(join(homedir(), ".config", "a2a-cli"))).toBe(false);
  });

  it("a temporary folder that is in no project", () => {
    expect(findPlace([tmpdir()])).toBe(realpathSync(tmpdir()));
  });

  it("a locale, a time zone, and no variable that a machine may have set", () => {
    expect(new Date(2026, 0, 1).toISOString()).toBe("2026-01-01T00:00:00.000Z");
    expect(process.env["LANG"]).toBe("C.UTF-8");
    for (const name of Object.keys(hostile).filter((each) => each !== "TZ")) {
      expect(process.env, name).not.toHaveProperty(name);
    }
  });

  it("the same in a process that it starts", () => {
    const print = "console.log(JSON.stringify([os.homedir(), os.tmpdir(), Object.keys(process.env)]))";
    const { stdout } = spawnSync(process.execPath, ["-e", print], { encoding: "utf8" });
    const [home, temporary, names] = JSON.parse(stdout) as [string, string, string[]]; // as it is printed
    expect([home, temporary]).toEqual([homedir(), tmpdir()]);
    expect(Object.keys(process.env)).toEqual(expect.arrayContaining(names.filter((name) => name !== "_")));
  });
});

describe("a run of tests", () => {
  it("finds the same where everything around it is hostile, and leaves nothing behind", {
    timeout: 60_000,
  }, async () => {
    const project = temporaryFolder();
    writeFileSync(join(project, "package.json"), '{ "type": "commonjs" }');
    const home = join(project, "home");
    const inherited = join(project, "tmp");
    mkdirSync(join(home, ".config", "a2a-cli"), { recursive: true });
    mkdirSync(inherited);
    const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
    const args = [vitest, "run", "test/surroundings", "-t", "a test finds around it"];
    const { stdout } = await promisify(execFile)(process.execPath, args, {
      cwd: root,
      env: { ...process.env, ...hostile, HOME: home, TMPDIR: inherited },
    });
    expect(stdout).toMatch(/4 passed/);
    expect(readdirSync(inherited)).toEqual([]);
  });
});

describe("the place of the temporary folder", () => {
  it.each(["package.json", "node_modules", ".git", ".env", "a2a.config.yaml"])(
    "is not below a folder with a %s",
    (mark) => {
      const project = temporaryFolder();
      const below = join(project, "a", "b");
      mkdirSync(below, { recursive: true });
      expect(findPlace([below])).toBe(below);
      writeFileSync(join(project, mark), "");
      expect(findPlace([below, tmpdir()])).toBe(realpathSync(tmpdir()));
      expect(() => findPlace([join(project, "none"), below])).toThrow(
        `Name one with TMPDIR. ${join(project, "none")} does not exist; ${below} has ${join(project, mark)} above`,
      );
    },
  );
});

function temporaryFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "a2a-surroundings-")));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}
