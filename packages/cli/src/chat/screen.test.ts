import { styleText } from "node:util";
import { describe, expect, it } from "vitest";
import { showOnTerminal } from "../../test-support/terminal-model.ts";
import type { Output } from "../output.ts";
import { Screen, toRow, toRows } from "./screen.ts";

/** A screen of 20 columns, and what a terminal makes of it. */
function openScreen(colours = false) {
  let sent = "";
  let typing: Promise<void> | undefined;
  const paint: Output["paint"] = (style, words) =>
    colours ? styleText(style, words, { validateStream: false }) : words;
  const sink = {
    isTerminal: true,
    write: async (text: string) => {
      sent += text.replaceAll("\n", "\r\n"); // as terminals do
    },
  };
  return {
    screen: new Screen(sink, { columns: () => 20, paint, quiet: async () => await typing }),
    /** The user begins a line; it ends with the returned function. */
    type: () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      typing = promise;
      return resolve;
    },
    shown: () => showOnTerminal(sent, 20),
    sent: () => sent,
  };
}

describe("the screen", () => {
  it("shows lines, broken where they are too long", async () => {
    const { screen, shown } = openScreen();
    await screen.line("one");
    await screen.line("a line that is too long for it");
    expect(shown()).toEqual(["one", "a line that is too", "long for it"]);
  });

  it("writes nothing while the user types, be it in the middle of several lines", async () => {
    const { screen, shown, type } = openScreen();
    await screen.line("one");
    const end = type();
    const rest = (async () => {
      await screen.line("two");
      await screen.stream("three");
      await screen.below("four");
    })();
    await screen.finish(); // for the user's own line, and so at once
    expect(shown()).toEqual(["one"]);
    end();
    await rest;
    expect(shown()).toEqual(["one", "two", "three", "four"]);
  });

  it("shows text as it streams", async () => {
    const { screen, shown } = openScreen();
    for (const chunk of ["Once ", "upon a ", "time there was", " a task.\nIt", " ended."]) {
      await screen.stream(chunk);
    }
    expect(shown()).toEqual(["Once upon a time", "there was a task.", "It ended."]);
  });

  it("replaces the line at the bottom", async () => {
    const { screen, shown } = openScreen();
    await screen.line("title");
    await screen.below("10%");
    expect(shown()).toEqual(["title", "10%"]);
    await screen.below("9%");
    expect(shown()).toEqual(["title", "9%"]);
    await screen.line("done");
    expect(shown()).toEqual(["title", "done"]);
  });

  it("keeps the line at the bottom below text that streams", async () => {
    const { screen, shown } = openScreen();
    await screen.stream("Once ");
    await screen.below("10%");
    expect(shown()).toEqual(["Once", "10%"]);
    await screen.stream("upon ");
    await screen.below("20%");
    expect(shown()).toEqual(["Once upon", "20%"]);
    await screen.stream("a time there was a task");
    await screen.below("30%");
    expect(shown()).toEqual(["Once upon a time", "there was a task", "30%"]);
    await screen.finish();
    await screen.line("done");
    expect(shown()).toEqual(["Once upon a time", "there was a task", "done"]);
  });

  it("keeps the line at the bottom in one row", async () => {
    const { screen, shown } = openScreen();
    await screen.stream("Once");
    await screen.below("a line that is too long for it");
    expect(shown()).toEqual(["Once", "a line that is too…"]);
    await screen.below("20%");
    expect(shown()).toEqual(["Once", "20%"]);
  });

  it("leaves the cursor at the beginning of an empty line", async () => {
    const { screen, shown } = openScreen();
    await screen.stream("text");
    await screen.below("10%");
    await screen.finish();
    await screen.finish();
    await screen.line("next");
    expect(shown()).toEqual(["text", "next"]);
  });

  it("ends what it colours, and colours nothing where it is told not to", async () => {
    const coloured = openScreen(true);
    await coloured.screen.line("red", "red");
    expect(coloured.sent()).toBe("\u001b[31mred\u001b[39m\r\n");
    const plain = openScreen();
    await plain.screen.line("red", "red");
    expect(plain.sent()).toBe("red\r\n");
  });
});

describe("text in rows", () => {
  for (const [what, text, rows] of [
    ["goes on in the row it stands in", "one two", ["one two"]],
    ["ends a row at a line feed", "one\ntwo", ["one", "two"]],
    ["keeps empty rows", "a\n\nb\n", ["a", "", "b", ""]],
    ["breaks at a space before the last column", "one two three", ["one two", "three"]],
    ["breaks at a space in the last column", "Once upon a time", ["Once upon", "a time"]],
    ["keeps what a line is indented by", "  one two three", ["  one two", "three"]],
    ["breaks a word that has no row to itself", "abcdefghijklm", ["abcdefghi", "jklm"]],
    ["breaks wide characters by their width", "日本語日本語", ["日本語日", "本語"]],
    ["keeps what belongs together", "👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧", ["👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧", "👩‍👩‍👧"]],
    ["counts no width for what is put over a letter", "e\u0301e\u0301e\u0301 abcdef", ["ééé", "abcdef"]],
  ] as const) {
    it(what, () => expect(toRows(text, 10).map((row) => row.trimEnd())).toEqual(rows));
  }

  it("keeps the space at the end of what was streamed", () => {
    expect(toRows("one ", 10)).toEqual(["one "]);
  });

  it("ends whatever the width", () => {
    for (const columns of [0, 1, 2]) {
      expect(toRows("日本語 abc", columns).join("").replaceAll(" ", "")).toBe("日本語abc");
    }
  });
});

describe("text in one row", () => {
  for (const [text, fitted] of [
    ["", ""],
    ["123456789", "123456789"],
    ["1234567890", "12345678…"],
    ["日本語日本語", "日本語日…"],
    ["█░█░ 50% █░", "█░█░ 50%…"],
  ] as const) {
    it(`${JSON.stringify(text)} leaves the last of 10 columns free`, () =>
      expect(toRow(text, 10)).toBe(fitted));
  }
});
