// Calls the exported functions of a route file as Next.js does: by the request's method, with its forwarding fields.
import { pathToFileURL } from "node:url";
import { serve } from "@hono/node-server";
import { Hono } from "hono";

/** What a route file exports. */
type Route = Readonly<Record<string, ((request: Request) => Promise<Response>) | undefined>>;

const [file = ""] = process.argv.slice(2);
const route = (await import(pathToFileURL(file).href)) as Route;
const app = new Hono();
app.all("*", ({ req: { raw: request } }) => {
  const headers = new Headers(request.headers);
  headers.set("x-forwarded-for", "127.0.0.1");
  headers.set("x-forwarded-host", new URL(request.url).host);
  headers.set("x-forwarded-proto", "http");
  const answer = route[request.method === "HEAD" ? "GET" : request.method]; // Next.js answers HEAD with GET's head
  return answer?.(new Request(request, { headers })) ?? new Response(null, { status: 405 });
});
serve({ port: 0, hostname: "127.0.0.1", fetch: app.fetch });
