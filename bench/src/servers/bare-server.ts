import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { answerControl } from "./control.ts";

/** What an echo over JSON-RPC costs at least in Node: its own HTTP server, `JSON.parse` and `JSON.stringify`, and no checks. */
const server = createServer(async (request, response) => {
  const { id, params } = (await json(request)) as { id: unknown; params: { message: { parts: unknown } } };
  const message = { messageId: "bare", role: "ROLE_AGENT", parts: params.message.parts };
  const text = JSON.stringify({ jsonrpc: "2.0", id, result: { message } });
  const fields = { "content-type": "application/json", "content-length": Buffer.byteLength(text) };
  response.writeHead(200, fields).end(text);
});
server.listen(0, "127.0.0.1", () => {
  const { port } = server.address() as AddressInfo; // it listens on TCP
  answerControl({ httpPort: port, grpcPort: port, jsonRpcPath: "/rpc", httpJsonPath: "/rest" });
});
