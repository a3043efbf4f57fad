import { lifecycleExtension } from "@a2a-connect/core";
import type { JsonObject } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { agentCard } from "../../test-support/cards.ts";
import { readLifecycleParams } from "./lifecycle-params.ts";

const withParams = (params?: JsonObject) =>
  agentCard({
    capabilities: {
      extensions: [{ uri: "urn:other" }, { uri: lifecycleExtension, ...(params && { params }) }],
    },
  });

describe("the parameters of the lifecycle extension", () => {
  it("are as the card declares them", () => {
    const params = {
      asks: true,
      asksForAuth: false,
      reportsProgress: true,
      idempotencyKeys: true,
      longestWaitSeconds: 600,
    };
    expect(readLifecycleParams(withParams({ ...params, other: 1 }))).toEqual(params);
  });

  it("are left out when they are of another type", () => {
    const params = { asks: "yes", idempotencyKeys: 1, longestWaitSeconds: "600" };
    expect(readLifecycleParams(withParams(params))).toEqual({});
  });

  it("are none when the card has the extension without any, and undefined when it has not", () => {
    expect(readLifecycleParams(withParams())).toEqual({});
    expect(readLifecycleParams(agentCard())).toBeUndefined();
  });
});
