/** What the bench and the tests use of Express, whose types are a package of their own. */
declare module "express" {
  import type { IncomingMessage, Server, ServerResponse } from "node:http";

  export type RequestHandler = (request: IncomingMessage, response: ServerResponse, next: () => void) => void;

  export interface Application {
    use(path: string, handler: RequestHandler): this;
    use(handler: RequestHandler): this;
    /** The callback is told of an error, or nothing when the server listens. */
    listen(port: number, host: string, listening: (error?: Error) => void): Server;
  }

  /** Parses bodies. */
  export function json(): RequestHandler;

  function createApplication(): Application;

  // biome-ignore lint/style/noDefaultExport: it is what the package exports
  export { createApplication as "module.exports", createApplication as default };
}
