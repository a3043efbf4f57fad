import type { HttpHandler, HttpRequest, HttpResponse } from "@a2a-connect/bindings";
import { describe, expect, it } from "vitest";
import { type InspectorOptions, withInspector } from "./inspector-routes.ts";
import { textResponse } from "./plain-routes.ts";

const browser = "text/html,application/xhtml+xml,*/*;q=0.8";
const plainPages = new Map<string, HttpHandler>([
  ["/", async () => textResponse(200, "text/html", "the plain page")],
]);
const inspector: InspectorOptions = {
  load: async () => ({
    html: "the inspector",
    files: new Map([
      ["inspector-0123.js", "its script"],
      ["style-4567.css", "its style"],
    ]),
  }),
};

function requestFor(header: Record<string, string>, others: Partial<HttpRequest> = {}): HttpRequest {
  return {
    httpVersion: "1.1",
    url: "http://localhost:4000/",
    boundToLoopback: true,
    method: "GET",
    header: new Headers(header),
    body: (async function* () {})(),
    signal: new AbortController().signal,
    ...others,
  };
}

async function get(
  options: InspectorOptions | undefined,
  path: string,
  request: HttpRequest,
): Promise<HttpResponse & { readonly text: string }> {
  const page = withInspector(plainPages, options).get(path);
  if (page === undefined) throw new Error(`there is nothing at ${path}`);
  const response = await page(request);
  if (!(response.body instanceof Uint8Array)) throw new Error("a page is sent in one piece");
  return { ...response, text: new TextDecoder().decode(response.body) };
}

describe("the page at /", () => {
  it("is the inspector for a browser on this machine", async () => {
    const { text, header } = await get(inspector, "/", requestFor({ accept: browser }));
    expect(text).toBe("the inspector");
    const policy = header?.get("content-security-policy") ?? "";
    for (const rule of ["default-src 'none'", "script-src 'self'", "connect-src 'self'"]) {
      expect(policy.split("; ")).toContain(rule);
    }
    expect(policy).not.toContain("unsafe");
  });

  it.each<[caller: string, header: Record<string, string>, others: Partial<HttpRequest>]>([
    ["wants no HTML", { accept: "*/*" }, {}],
    ["comes through a proxy", { accept: browser, "x-forwarded-for": "192.0.2.1" }, {}],
    ["calls a server that other machines reach", { accept: browser }, { boundToLoopback: false }],
    ["names another host", { accept: browser }, { url: "http://agents.example/" }],
  ])("is the plain one for a caller that %s", async (_, header, others) => {
    const { text } = await get(inspector, "/", requestFor(header, others));
    expect(text).toBe("the plain page");
  });

  it("is the inspector for callers of other machines when the operator says so", async () => {
    const request = requestFor(
      { accept: browser },
      { boundToLoopback: false, url: "http://agents.example/" },
    );
    const { text } = await get({ ...inspector, beyondLoopback: true }, "/", request);
    expect(text).toBe("the inspector");
  });

  it("is the plain one when there is no inspector, or none was built", async () => {
    for (const options of [undefined, { load: async () => undefined }]) {
      const { text } = await get(options, "/", requestFor({ accept: browser }));
      expect(text).toBe("the plain page");
    }
  });

  it("is loaded once, and again after a failure", async () => {
    let loads = 0;
    const options: InspectorOptions = {
      load: async () => {
        loads += 1;
        if (loads === 1) throw new Error("not built");
        return inspector.load();
      },
    };
    const page = withInspector(plainPages, options).get("/");
    const open = (): Promise<unknown> => page?.(requestFor({ accept: browser })) ?? Promise.resolve();
    await expect(open()).rejects.toThrow("not built");
    await open();
    await open();
    expect(loads).toBe(2);
  });
});

describe("the inspector's files", () => {
  const file = (name: string, others: Partial<HttpRequest> = {}) =>
    get(
      inspector,
      "/inspector/*",
      requestFor({}, { url: `http://localhost:4000/inspector/${name}`, ...others }),
    );

  it("are kept by browsers, because their names change with their content", async () => {
    const { text, header } = await file("inspector-0123.js");
    expect(text).toBe("its script");
    expect(header?.get("content-type")).toContain("text/javascript");
    expect(header?.get("cache-control")).toContain("immutable");
    expect((await file("style-4567.css")).header?.get("content-type")).toContain("text/css");
  });

  it("are not there by other names, nor for callers who do not get the page", async () => {
    expect((await file("inspector-9999.js")).status).toBe(404);
    expect((await file("inspector-0123.js", { boundToLoopback: false })).status).toBe(404);
  });
});
