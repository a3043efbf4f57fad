import { expect, it } from "vitest";
import { dropUndefined } from "./drop-undefined.ts";

it("leaves out the options that are undefined, and keeps all others", () => {
  const defaults = { most: 10, least: 1 };
  const options = { most: undefined, least: 0, name: "", isOpen: false, none: null };
  expect({ ...defaults, ...dropUndefined(options) }).toStrictEqual({ ...options, most: 10 });
});
