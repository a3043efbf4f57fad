import { methods } from "@a2a-connect/core";
import { runtimeKey } from "@a2a-connect/core/internal";
import { describe, expect, it } from "vitest";
import type { HttpRequest } from "./http.ts";
import { CallContext } from "./invoke.ts";

/** A request that counts how often its forwarded URL is asked for. */
class CountingRequest implements HttpRequest {
  readonly httpVersion = "1.1";
  readonly url = "http://localhost/rpc";
  readonly method = "POST";
  readonly header = new Headers();
  readonly body = { async *[Symbol.asyncIterator]() {} };
  readonly signal = new AbortController().signal;
  asked = 0;

  get forwardedUrl(): string {
    this.asked += 1;
    return "https://public.example";
  }
}

describe("the context of a call", () => {
  it("has the forwarded URL for those who ask for it, and reads it for nobody else", () => {
    const request = new CountingRequest();
    const { values } = new CallContext(methods.sendMessage.desc, request, { wire: "jsonrpc" });
    const before = request.asked;
    expect([before, values.get(runtimeKey).forwardedUrl]).toEqual([0, "https://public.example"]);
  });
});
