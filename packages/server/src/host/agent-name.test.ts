import { describe, expect, it } from "vitest";
import { assertAgentName } from "./agent-host.ts";

describe("the name of an agent among others", () => {
  it.each(["a", "7", "translator", "table-booker", "v2_beta-3", "constructor", "a".repeat(64)])(
    "may be %s",
    (name) => {
      expect(() => assertAgentName(name)).not.toThrow();
    },
  );

  it.each([
    "",
    "Translator",
    "two words",
    "a/b",
    "..",
    "a.json",
    ".well-known",
    "-a",
    "a-",
    "a--b",
    "a\n",
    "é",
    "%61",
    "__proto__",
    "message:send",
    "a".repeat(65),
  ])("is not %j", (name) => {
    expect(() => assertAgentName(name)).toThrow("does not fit");
  });

  it.each(["tasks"])("is not %s, which a path without a tenant begins with (K-11)", (name) => {
    expect(() => assertAgentName(name)).toThrow("cannot be called");
  });
});
