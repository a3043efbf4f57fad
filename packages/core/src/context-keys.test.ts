import { createContextValues } from "@connectrpc/connect";
import { expect, it } from "vitest";
import { extensionsKey, principalKey, protocolVersionKey, tenantKey } from "./context-keys.ts";

it("a call without values is anonymous, of no tenant and no extensions, in version 1.0 (G-6)", () => {
  const values = createContextValues();
  expect(values.get(principalKey)).toEqual({ id: "anonymous", anonymous: true });
  expect(values.get(tenantKey)).toBe("");
  expect(values.get(extensionsKey)).toEqual([]);
  expect(values.get(protocolVersionKey)).toBe("1.0");
});
