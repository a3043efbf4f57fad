import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { runCommand } from "../../test-support/run-command.ts";

let cwd: string;

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), "a2a-names-"));
});

afterEach(async () => {
  await rm(cwd, { recursive: true });
});

/** What is said on stderr about settings. */
async function warnings(env: Readonly<Record<string, string>>, file = ""): Promise<readonly string[]> {
  await writeFile(join(cwd, ".env"), file);
  const { stderr } = await runCommand(["completion", "bash"], { cwd, env });
  return stderr.split("\n").filter((line) => line !== "");
}

it("names in the environment that mean nothing are told, with what may be meant", async () => {
  expect(await warnings({ A2ACLI_AGENTCARD: "x", A2ACLI_BOGUS: "1", A2ACLI_OUTPUT: "text" })).toEqual([
    "warning: environment: A2ACLI_AGENTCARD (did you mean A2ACLI_AGENT_CARD?) and A2ACLI_BOGUS have no effect",
  ]);
});

it("so are those of an .env file, once, and never their values", async () => {
  const [line, ...others] = await warnings({ OTHER: "1" }, "A2ACLI_BEARRER=s3cret\nOTHER=2\n");
  expect(line).toBe(
    `warning: ${join(cwd, ".env")}: A2ACLI_BEARRER (did you mean A2ACLI_BEARER?) has no effect`,
  );
  expect(others).toEqual([]);
});

it("so are flags that are only flags", async () => {
  expect(await warnings({ A2ACLI_STREAM: "true" })).toEqual([
    "warning: environment: A2ACLI_STREAM (only the flag --stream) has no effect",
  ]);
});

it("nothing is said about names that mean something, or are empty", async () => {
  expect(await warnings({ A2ACLI_TIMEOUT: "5s", A2ACLI_BOGUS: "" }, "A2ACLI_API_KEY=k\n")).toEqual(
    expect.not.arrayContaining([expect.stringContaining("mean")]),
  );
});
