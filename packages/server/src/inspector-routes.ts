import type { HttpHandler, HttpRequest, HttpResponse } from "@a2a-connect/bindings";
import { isLoopbackHost } from "@a2a-connect/core/internal";
import { plainError, textResponse } from "./plain-routes.ts";

/** The files of a web page that shows what an agent does. */
export interface InspectorPage {
  /** It loads its files from `inspector/`, by relative URLs. */
  readonly html: string;
  /** Scripts and styles, by names that change with their content: `.js` and `.css`. */
  readonly files: ReadonlyMap<string, string>;
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
 * The pages with the inspector at `/` for browsers, and its files below `/inspector/`. Everything else that asks for `/` gets the page that was
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
    [
      "/inspector/*",
      async (request): Promise<HttpResponse> => {
        const { pathname } = new URL(request.url);
        const text = (await find(request))?.files.get(pathname.slice(pathname.lastIndexOf("/") + 1));
        if (text === undefined) return plainError(404, "NOT_FOUND", "the inspector has no such file");
        const contentType = pathname.endsWith(".css") ? "text/css" : "text/javascript";
        const header = { ...safeHeaders, "cache-control": "max-age=31536000, immutable" };
        return textResponse(200, `${contentType}; charset=utf-8`, text, header);
      },
    ],
  ]);
}

function wantsHtml({ header }: HttpRequest): boolean {
  return header.get("accept")?.includes("text/html") === true;
}

/** Fields that proxies add: behind one, a caller on this machine may be anywhere. */
const proxyFields = ["forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip"];

/** Whether a caller is certainly on this machine. */
export function isOfThisMachine({ boundToLoopback = false, url, header }: HttpRequest): boolean {
  return (
    boundToLoopback &&
    isLoopbackHost(new URL(url).hostname) &&
    !proxyFields.some((field) => header.has(field))
  );
}
