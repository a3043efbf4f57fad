import { describe, expect, it } from "vitest";
import { parseOptions } from "./options.ts";

describe("the webhooks that may be reached", () => {
  const here = ["localhost", "127.0.0.1", "::1"];
  it.each([
    ["by default, this machine", [], here],
    ["and while the server is bound to an address of it", ["--host", "127.0.0.2"], here],
    ["but not when others can call the server", ["--host", "0.0.0.0"], []],
    [
      "those that are named",
      ["--push-allow", "hooks.internal, 10.0.0.0/8"],
      ["hooks.internal", "10.0.0.0/8"],
    ],
    ["none", ["--push-allow", ""], []],
  ])("are %s", (_what, args, allowed) => {
    expect(parseOptions(args)?.pushAllow).toEqual(allowed);
  });
});
