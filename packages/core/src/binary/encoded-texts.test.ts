import { expect, it } from "vitest";
import { encodedText, keepEncodedText } from "./encoded-texts.ts";

it("keeps the bytes of the newest texts, and no more than 64 MiB of them", () => {
  const mebibyte = new Uint8Array(1024 * 1024);
  const oneofs = Array.from({ length: 200 }, (_, at) => ({ value: `text ${at}` }));
  for (const oneof of oneofs) keepEncodedText(oneof, mebibyte);
  const kept = oneofs.filter((oneof) => encodedText(oneof, oneof.value) !== undefined);
  expect(kept.length).toBeLessThanOrEqual(64);
  expect(kept.length).toBeGreaterThanOrEqual(32);
  expect(kept).toEqual(oneofs.slice(-kept.length));
});

it("counts the whole buffer that the bytes are in", () => {
  const mebibyte = new Uint8Array(1024 * 1024);
  const oneofs = Array.from({ length: 200 }, (_, at) => ({ value: `text ${at}` }));
  for (const oneof of oneofs) keepEncodedText(oneof, mebibyte.subarray(0, 512 * 1024));
  const kept = oneofs.filter((oneof) => encodedText(oneof, oneof.value) !== undefined);
  expect(kept.length).toBeLessThanOrEqual(64);
});

it("does not give the bytes of another text that the oneof had", () => {
  const oneof = { value: "before" };
  keepEncodedText(oneof, new Uint8Array(1));
  oneof.value = "after";
  expect(encodedText(oneof, oneof.value)).toBeUndefined();
});
