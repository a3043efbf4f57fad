import { lifecycleExtension } from "@a2a-connect/core";
import { describe, expect, it } from "vitest";
import type { Input } from "../call-options.ts";
import { createSendRequest } from "./send-request.ts";

const randomId = () => "m-1";

describe("a message", () => {
  it("says what its caller wants of the task, beside the caller's own metadata", () => {
    const { message } = createSendRequest(
      { parts: "Go.", metadata: { mine: 1, [lifecycleExtension]: { kept: true } } },
      { skill: "file", priority: "high", deadline: new Date("2026-01-31T12:00:00Z") },
      randomId,
    );
    expect(message?.metadata).toEqual({
      mine: 1,
      [lifecycleExtension]: {
        kept: true,
        skill: "file",
        priority: "high",
        deadline: "2026-01-31T12:00:00.000Z",
      },
    });
  });

  it.each<readonly [unknown, string]>([
    [{ text: "Go." }, "it has only: text"],
    [{ parts: 42 }, "it has only: parts"],
    [{}, "it is object"],
    [undefined, "it is undefined"],
    [null, "it is null"],
    [42, "it is number"],
  ])("is no %j", (input, given) => {
    const create = () => createSendRequest(input as Input, {}, randomId); // of a caller without types
    expect(create).toThrow(TypeError);
    expect(create).toThrow(`is one of these; ${given}`);
  });
});
