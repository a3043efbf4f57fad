import { expect, it } from "vitest";
import { decodeCommand, encodeCommand, type LoggedCommand } from "./command.ts";

const metadata = { text: "\u0000", list: [1.5, null, { a: true }], "7": "index", "\u0000": {} };

const commands: readonly LoggedCommand[] = [
  { type: "queued", input: 3, metadata, acceptedOutputModes: ["text/plain"], at: 7 },
  {
    type: "call",
    caller: { scopes: ["read"], claims: { sub: "\u0000" } },
    extensions: ["https://a.example"],
  },
  { type: "call", metadata: {} },
  { type: "stop", cause: "canceled", metadata },
  { type: "stop", cause: "deadline" },
  { type: "timer-moved" },
  { type: "survived", atRest: true },
];

it.each(commands)("a command is the same when it is read: $type", (command) => {
  expect(decodeCommand(encodeCommand(command))).toStrictEqual(command);
});

it.each(commands)("a command of an older log, which is JSON, is read: $type", (command) => {
  expect(decodeCommand(new TextEncoder().encode(JSON.stringify(command)))).toStrictEqual(command);
});

it("the metadata of a caller takes about as many bytes as the caller has sent", () => {
  const length = 100_000;
  const command = { type: "call", metadata: { text: "\u0000".repeat(length) } } as const;
  expect(encodeCommand(command).length).toBeLessThan(length + 100);
});
