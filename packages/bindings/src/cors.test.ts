import { describe, expect, it } from "vitest";
import { memoryRequest } from "../test-support/memory-http.ts";
import { type CorsOptions, withCors } from "./cors.ts";
import type { HttpHandler } from "./http.ts";

const inner: HttpHandler = async ({ method }) => ({
  status: method === "OPTIONS" ? 405 : 200,
  header: new Headers({ "x-own": "1" }),
});

function ask(method: string, header: HeadersInit, options?: CorsOptions) {
  return withCors(inner, options)(memoryRequest({ method, header }));
}

const preflight = { origin: "https://app.test", "access-control-request-method": "POST" };

describe("withCors", () => {
  it("answers a preflight with 204 and what the wires need", async () => {
    const { status, header } = await ask("OPTIONS", preflight);
    expect(status).toBe(204);
    expect(header?.get("access-control-allow-origin")).toBe("*");
    expect(header?.get("access-control-allow-methods")).toBe("GET, POST, DELETE");
    for (const name of [
      "content-type",
      "a2a-version",
      "a2a-extensions",
      "last-event-id",
      "idempotency-key",
      "authorization",
      "x-grpc-web",
      "connect-protocol-version",
      "traceparent",
    ]) {
      expect(header?.get("access-control-allow-headers")?.toLowerCase().split(", ")).toContain(name);
    }
    expect(header?.get("access-control-allow-credentials")).toBeNull();
  });

  it("lets pages read what the wires answer", async () => {
    const { status, header } = await ask("POST", { origin: "https://app.test" });
    expect(status).toBe(200);
    expect(header?.get("x-own")).toBe("1");
    for (const name of [
      "grpc-status",
      "grpc-status-details-bin",
      "a2a-extensions",
      "x-a2a-event-id",
      "www-authenticate",
    ]) {
      expect(header?.get("access-control-expose-headers")?.toLowerCase().split(", ")).toContain(name);
    }
  });

  it("leaves calls alone that come from no page, and OPTIONS that are no preflight", async () => {
    const { header } = await ask("POST", {});
    expect(header?.has("access-control-allow-origin")).toBe(false);
    expect((await ask("OPTIONS", { origin: "https://app.test" })).status).toBe(405);
  });

  it("grants named origins only, and says that answers vary", async () => {
    const options = { origins: ["https://app.test"], credentials: true };
    const granted = await ask("OPTIONS", preflight, options);
    expect(granted.header?.get("access-control-allow-origin")).toBe("https://app.test");
    expect(granted.header?.get("access-control-allow-credentials")).toBe("true");
    expect(granted.header?.get("vary")).toBe("origin");
    const other = await ask("OPTIONS", { ...preflight, origin: "https://evil.test" }, options);
    expect(other.status).toBe(204);
    expect([...(other.header ?? [])].filter(([name]) => name.startsWith("access-control"))).toEqual([]);
    expect((await ask("POST", {}, options)).header?.get("vary")).toBe("origin");
  });

  it("refuses credentials for all origins", () => {
    expect(() => withCors(inner, { credentials: true })).toThrow("named origins");
  });
});
