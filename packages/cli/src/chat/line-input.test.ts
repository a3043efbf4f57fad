import { expect, it } from "vitest";
import { showOnTerminal } from "../../test-support/terminal-model.ts";
import { eraseLine } from "../output.ts";
import { SharedTerminal } from "./line-input.ts";

function openTerminal() {
  let sent = "";
  let typing: Promise<void> | undefined;
  const write = async (text: string): Promise<void> => {
    sent += text.replaceAll("\n", "\r\n"); // as terminals do
  };
  return {
    terminal: new SharedTerminal({ isTerminal: true, write }, async () => await typing),
    /** The user begins a line; it ends with the returned function. */
    type: () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      typing = promise;
      return resolve;
    },
    shown: () => showOnTerminal(sent, 20),
  };
}

it("nothing is written into a line that is being typed, except for the room that it needs", async () => {
  const { terminal, type, shown } = openTerminal();
  await terminal.write("one");
  const end = type();
  const rest = terminal.write("two");
  await terminal.makeRoom();
  await terminal.makeRoom();
  expect(shown()).toEqual(["one"]);
  end();
  await rest;
  expect(shown()).toEqual(["one", "two"]);
});

it("a line of progress makes room for a line that is being typed", async () => {
  const { terminal, shown } = openTerminal();
  await terminal.write("one\n");
  await terminal.write(`${eraseLine}50%`);
  await terminal.makeRoom();
  await terminal.write("two");
  expect(shown()).toEqual(["one", "two"]);
});
