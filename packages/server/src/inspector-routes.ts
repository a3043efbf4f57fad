import type { HttpHandler, HttpRequest, HttpResponse } from "@a2a-connect/bindings";
import { isLoopbackHost } from "@a2a-connect/core/internal";
import { textResponse } from "./plain-routes.ts";

/** The files of a web page that shows what an agent does. */
export interface InspectorPage {
  /** It loads `inspector/inspector.js` and `inspector/inspector.css`, by relative URLs. */
  readonly html: string;
  readonly script: string;
  readonly style: string;
}

/** Where the page comes from, and who gets it. */
export interface InspectorOptions {
  /** Called at the first request for the page, and again after a failure. Undefined: there is none. */
  readonly load: () => Promise<InspectorPage | undefined>;
  /** Whether callers get it that come from other machines, or through a proxy. Default false. */
  readonly beyondLoopback?: boolean;
}

/**
 * What the page may do: run its own script, use its own style, call the server that it comes from, show inline images. It
 * shows what agents wrote, so nothing that could become code or a request to others is allowed.
 */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src data: blob:",
  "media-src data: blob:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const safeHeaders = {
  "content-security-policy": contentSecurityPolicy,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
} as const;

/**
 * The pages with the inspector at `/` for browsers, and its files. Everything else that asks for `/` gets the page that was
 * there.
 */
export function withInspector(
  pages: ReadonlyMap<string, HttpHandler>,
  inspector: InspectorOptions | undefined,
): ReadonlyMap<string, HttpHandler> {
  const plainPage = pages.get("/");
  if (inspector === undefined || plainPage === undefined) return pages;
  const { beyondLoopback = false } = inspector;
  let loading: Promise<InspectorPage | undefined> | undefined;
  const load = (): Promise<InspectorPage | undefined> => {
    loading ??= inspector.load();
    loading.catch(() => {
      loading = undefined;
    });
    return loading;
  };
  const find = async (request: HttpRequest): Promise<InspectorPage | undefined> =>
    beyondLoopback || isOfThisMachine(request) ? load() : undefined;
  const file =
    (contentType: string, textOf: (page: InspectorPage) => string): HttpHandler =>
    async (request) => {
      const page = await find(request);
      if (page === undefined) return plainPage(request);
      // The page names its files by what is in them.
      const caching = request.url.includes("?") ? "max-age=31536000, immutable" : "no-cache";
      return textResponse(200, contentType, textOf(page), { ...safeHeaders, "cache-control": caching });
    };
  return new Map<string, HttpHandler>([
    ...pages,
    [
      "/",
      async (request): Promise<HttpResponse> => {
        const page = wantsHtml(request) ? await find(request) : undefined;
        if (page === undefined) return plainPage(request);
        const header = { ...safeHeaders, "cache-control": "no-store", vary: "accept" };
        return textResponse(200, "text/html; charset=utf-8", page.html, header);
      },
    ],
    ["/inspector/inspector.js", file("text/javascript; charset=utf-8", ({ script }) => script)],
    ["/inspector/inspector.css", file("text/css; charset=utf-8", ({ style }) => style)],
  ]);
}

function wantsHtml({ header }: HttpRequest): boolean {
  return header.get("accept")?.includes("text/html") === true;
}

/** Fields that proxies add: behind one, a caller on this machine may be anywhere. */
const proxyFields = ["forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip"];

function isOfThisMachine({ boundToLoopback = false, url, header }: HttpRequest): boolean {
  return (
    boundToLoopback &&
    isLoopbackHost(new URL(url).hostname) &&
    !proxyFields.some((field) => header.has(field))
  );
}
