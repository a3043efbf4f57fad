import { describe, expect, it } from "vitest";
import { formatRequestUrl } from "./http-head.ts";

describe("formatRequestUrl", () => {
  for (const [authority, target, want] of [
    ["localhost:4000", "/rpc?a=1", "http://localhost:4000/rpc?a=1"],
    ["[::1]:4000", "/", "http://[::1]:4000/"],
    ["agent.example", "//evil.example/x", "http://agent.example//evil.example/x"],
    [undefined, "/healthz", "http://localhost/healthz"],
    ["localhost", "*", "http://localhost/*"],
    ["ignored.example", "http://agent.example:81/rest?x=1", "http://agent.example:81/rest?x=1"],
    ["ignored.example", "https://agent.example/rest", "http://agent.example/rest"],
    ["evil.example/path?", "/rpc", undefined],
    ["user@evil.example", "/rpc", undefined],
    ["a b", "/rpc", undefined],
    ["", "/rpc", undefined],
    ["1.2.3.999", "/rpc", undefined],
    ["localhost:99999", "/rpc", undefined],
    ["localhost", "ftp://agent.example/", undefined],
    ["localhost", "rpc", undefined],
    ["localhost", "", undefined],
    ["localhost", undefined, undefined],
  ] as const) {
    it(`reads ${JSON.stringify(target)} at ${JSON.stringify(authority)} as ${want}`, () => {
      expect(formatRequestUrl("http", authority, target)).toBe(want);
    });
  }
});
