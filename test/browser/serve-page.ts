import { once } from "node:events";
import { createServer } from "node:http";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

/** The page, built and served. */
export interface ServedPage {
  /** Where it is: an origin of its own. */
  readonly url: string;
  close(): void;
}

const mediaTypes: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
};

/** Builds the page in a folder (default: `page`) with Vite, in memory, and serves it on any free port. */
export async function servePage(
  root: string = fileURLToPath(new URL("page", import.meta.url)),
): Promise<ServedPage> {
  const built = await build({
    root,
    configFile: false,
    logLevel: "error",
    build: { write: false },
  });
  if (!("output" in built)) throw new Error("one build has one output");
  const files = new Map(
    built.output.map((file) => [`/${file.fileName}`, file.type === "chunk" ? file.code : file.source]),
  );

  const server = createServer((request, response) => {
    const path = request.url === "/" ? "/index.html" : (request.url ?? "");
    const file = files.get(path);
    response.writeHead(file === undefined ? 404 : 200, {
      "content-type": mediaTypes[extname(path)] ?? "application/octet-stream",
    });
    response.end(file);
  });
  server.listen(0, "localhost");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("a TCP server has a port");
  return {
    url: `http://localhost:${address.port}/`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
