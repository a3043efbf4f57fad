import { describe, expect, it } from "vitest";
import { completeEntry, explainCommands, parseEntry } from "./slash-commands.ts";

describe("a line of a chat", () => {
  for (const [line, entry] of [
    ["hello", { kind: "message", text: "hello" }],
    ["  hello  ", { kind: "message", text: "hello" }],
    ["", { kind: "message", text: "" }],
    ["//etc is a directory", { kind: "message", text: "/etc is a directory" }],
    ["a /cancel in the middle", { kind: "message", text: "a /cancel in the middle" }],
    ["/cancel", { kind: "command", name: "cancel", argument: "" }],
    [" /task ", { kind: "command", name: "task", argument: "" }],
    ["/attach my file.txt", { kind: "command", name: "attach", argument: "my file.txt" }],
    [
      "/attach\thttps://example.com/a b",
      { kind: "command", name: "attach", argument: "https://example.com/a b" },
    ],
    ["/save", { kind: "command", name: "save", argument: "" }],
    ["/save out", { kind: "command", name: "save", argument: "out" }],
  ] as const) {
    it(`${JSON.stringify(line)} is ${entry.kind === "command" ? `/${entry.name}` : "a message"}`, () => {
      expect(parseEntry(line)).toEqual(entry);
    });
  }

  for (const [line, sentence] of [
    ["/foo", "there is no command /foo; /help lists the commands"],
    ["/", "there is no command /; /help lists the commands"],
    ["/toString", "there is no command /toString; /help lists the commands"],
    ["/attach", "usage: /attach PATH|URL (adds a file to the next message)"],
    ["/cancel that", "usage: /cancel (cancels the task that runs or waits)"],
  ] as const) {
    it(`${line} is a mistake that is explained`, () => {
      expect(parseEntry(line)).toEqual({ kind: "mistake", sentence });
    });
  }

  it("is completed from its slash on", () => {
    expect(completeEntry("/ca")).toEqual(["/cancel"]);
    expect(completeEntry("/")).toHaveLength(explainCommands().length);
    expect(completeEntry("ca")).toEqual([]);
    expect(completeEntry("")).toEqual([]);
  });
});
