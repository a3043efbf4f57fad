import { describe, expect, it } from "vitest";
import { showOnTerminal } from "../../test-support/terminal-model.ts";
import { Screen } from "./screen.ts";

/** A screen of 20 columns, and what a terminal makes of it. */
function openScreen(colours = false) {
  let sent = "";
  const sink = {
    isTerminal: true,
    write: async (text: string) => {
      sent += text.replaceAll("\n", "\r\n"); // as terminals do
    },
  };
  return {
    screen: new Screen(sink, { columns: () => 20, colours }),
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
    expect(coloured.sent()).toBe("\u001b[31mred\u001b[0m\r\n");
    const plain = openScreen();
    await plain.screen.line("red", "red");
    expect(plain.sent()).toBe("red\r\n");
  });
});
