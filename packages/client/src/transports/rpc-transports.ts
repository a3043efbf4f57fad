/** What a page loads with its first call over Connect or gRPC-Web: a module of its own, so that bundlers make a file of it. */
export { createConnectTransport, createGrpcWebTransport } from "@a2a-connect/bindings/client";
