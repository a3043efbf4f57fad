import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { ownText } from "./own-text.ts";

it("keeps nothing in memory of the text that it was cut from", () => {
  setFlagsFromString("--expose-gc");
  const collectGarbage = runInNewContext("gc") as () => void; // the flag made it
  const heapOf = (cut: (text: string) => string): number => {
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    const kept = Array.from({ length: 500 }, (_, at) =>
      cut(Buffer.from(`${at}`.padEnd(20_000, "x")).toString()),
    );
    collectGarbage();
    return (process.memoryUsage().heapUsed - before) / kept.length;
  };
  expect(heapOf((text) => text.slice(0, 32))).toBeGreaterThan(15_000);
  expect(heapOf((text) => ownText(text.slice(0, 32)))).toBeLessThan(2_000);
});

it.each([
  "",
  "short",
  "0af7651916cd43dd8448eb211c80319c",
  'a "quoted" text\n',
  "half a pair: \ud83d",
  "Größe: 🙂",
])("has the same characters: %j", (text) => expect(ownText(text)).toBe(text));
