// The kit in a page: what a browser can do of it, without anything of Node.
import { createConnectTransport, createGrpcWebTransport } from "@a2a-connect/bindings/client";
import type { Platform } from "./platform.ts";
import { createKit, type Kit } from "./run/run-conformance.ts";
import { NotApplicable } from "./scenario.ts";
import { browserScenarios } from "./scenarios/browser.ts";

const browserPlatform: Platform = {
  wires: ["grpc-web", "connect", "jsonrpc", "http-json"],
  connect: ({ fetch }) => ({
    open(wire, { maxBytes, ...options }) {
      const create = wire === "grpc-web" ? createGrpcWebTransport : createConnectTransport;
      return create({ ...options, maxResponseBytes: maxBytes, fetch });
    },
    [Symbol.dispose]: () => {},
  }),
  postGrpc: () => Promise.reject(new NotApplicable("a browser has no HTTP/2 of its own")),
  postFields: () => Promise.reject(new NotApplicable("a browser joins fields that come several times")),
};

const kit: Kit = createKit(browserPlatform, browserScenarios);

/** See the entry for Node: the same run, of the scenarios and wires that a page can do. */
export const runConformance: Kit["runConformance"] = kit.runConformance;

export { type ConformanceReport, createReport, reportToJson } from "./report/report.ts";
export type { Result } from "./run/result.ts";
export { CannotExamine } from "./target.ts";
