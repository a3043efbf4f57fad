import { describe, expect, it } from "vitest";
import { isLoopbackHost } from "./web-url.ts";

describe("a host that is this machine", () => {
  for (const host of [
    "localhost",
    "LOCALHOST",
    "localhost.",
    "a.localhost",
    "127.0.0.1",
    "127.8.9.10",
    "127.0.0.1.",
    "[::1]",
  ]) {
    it(`is ${host}`, () => expect(isLoopbackHost(host)).toBe(true));
  }

  for (const host of [
    "",
    "localhost.example",
    "notlocalhost",
    "128.0.0.1",
    "127.0.0.1.example",
    "[::2]",
    "::1",
    "10.0.0.1",
  ]) {
    it(`is not ${host === "" ? "nothing" : host}`, () => expect(isLoopbackHost(host)).toBe(false));
  }
});
