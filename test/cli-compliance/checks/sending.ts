import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { field, fieldsOf, linesOf } from "../../../packages/cli/test-support/fields.ts";
import { collectChecks } from "../check.ts";

/** `send`. */
export const sending = collectChecks((shows) => {
  shows("A2ACLI_SEND_001", "begins an interaction, and shows what came of it", async ({ ask }) => {
    const { stdout, stderr, exitCode } = await ask("send", "task hello");
    expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
    expect(stdout).toContain("Text:\nhello\n\n");
  });

  shows(
    [
      "A2ACLI_SEND_002",
      "A2ACLI_OUT_006",
      "task_completion_wait_by_default: shipped",
      "task_completion_wait_by_default: overridable",
    ],
    "waits by itself, and returns at once with --async or an alias of it",
    async ({ agent, ask, start }) => {
      const { stdout } = await ask("send", "task x");
      expect(field(stdout, "State")).toBe("TASK_STATE_COMPLETED");
      for (const flag of ["--async", "--return-immediately", "--no-wait"]) {
        const early = await ask("send", "hold x", flag);
        expect(["TASK_STATE_SUBMITTED", "TASK_STATE_WORKING"]).toContain(field(early.stdout, "State"));
        expect(field(early.stdout, "Context")).not.toBe("");
        expect(early.exitCode).toBe(0);
      }
      const { task } = JSON.parse((await ask("send", "hold x", "--async", "-o", "json")).stdout) as {
        task: { id: string; contextId: string }; // SendMessageResponse
      };
      expect([task.id, task.contextId]).not.toContain("");
      const configured = start(["send", "task x", "-a", agent.url, "--wait"], {
        env: { A2ACLI_ASYNC: "true" },
      });
      expect(field((await configured.result).stdout, "State")).toBe("TASK_STATE_COMPLETED");
    },
  );

  shows(
    "A2ACLI_SEND_003",
    "streams, polls instead where nothing streams, and takes a message for an end",
    async ({ silent, ask, a2a }) => {
      const streamed = await ask("send", "task x", "--stream");
      expect(fieldsOf(streamed.stdout).get("State")).toEqual([
        "TASK_STATE_SUBMITTED",
        "TASK_STATE_WORKING",
        "TASK_STATE_COMPLETED",
      ]);
      const polled = await a2a("send", "task x", "--stream", "-a", silent.url);
      expect([field(polled.stdout, "State"), polled.exitCode]).toEqual(["TASK_STATE_COMPLETED", 0]);
      const replied = await ask("send", "echo hello", "--stream", "-o", "json");
      expect(linesOf(replied.stdout)).toMatchObject([{ message: { parts: [{ text: "hello" }] } }]);
      expect(replied.exitCode).toBe(0);
    },
  );

  shows("A2ACLI_SEND_004", "shows every kind of part of an artifact", async ({ ask }) => {
    const { stdout } = await ask("send", "parts");
    expect(stdout).toContain("Text:\nsome text\n\n");
    expect(stdout).toContain('Data:\n{\n  "a": [\n');
    expect(fieldsOf(stdout).get("File")).toEqual([
      "../three.bin, application/x-three, 3 bytes",
      expect.stringContaining("application/pdf"),
    ]);
  });

  shows(
    ["A2ACLI_SEND_005", "A2ACLI_SEND_006"],
    "sends parts in the order of their flags, each with the media type behind it",
    async ({ agent, start, directory }) => {
      const file = join(directory, "report.md");
      await writeFile(file, "# Report");
      const words =
        `repeat --file ${file} --file ${file} --media-type text/x-other --data - --text last`.split(" ");
      const argv = ["send", ...words, "-o", "json", "-a", agent.url];
      const { stdout } = await start(argv, { stdin: '{"n": 1}' }).result;
      const { task } = JSON.parse(stdout) as { task: { artifacts: [{ parts: unknown[] }] } }; // SendMessageResponse
      const raw = Buffer.from("# Report").toString("base64");
      expect(task.artifacts[0].parts).toMatchObject([
        { text: "repeat" },
        { raw, mediaType: "text/markdown" },
        { raw, mediaType: "text/x-other" },
        { data: { n: 1 } },
        { text: "last" },
      ]);
    },
  );

  shows("A2ACLI_SEND_005", "refuses a media type with no part before it", async ({ ask }) => {
    expect((await ask("send", "--media-type", "text/plain", "--text", "x")).exitCode).toBe(2);
  });
});
