import { versionHeader } from "@a2a-connect/core/internal";
import { findingAt, type LiveInterface, type Probe } from "../examination.ts";
import { type Finding, quote } from "../finding.ts";
import type { HttpClient } from "../http-client.ts";

/** A page that no server can know: what it may, all pages may. */
const strangersOrigin = "https://a2a-doctor.invalid";

/** Whether pages of other origins may call (CORS). Not every agent is for browsers: at worst a note. */
export const browserProbe: Probe = {
  id: "browsers",
  async run({ live, http }) {
    const reachable = live.filter(
      ({ calls }) => /^https?:/.test(calls.interface.url) && calls.interface.protocolBinding !== "GRPC",
    );
    return await Promise.all(
      reachable.map(async (served) => findingAt(served, await preflight(served, http))),
    );
  },
};

async function preflight({ calls }: LiveInterface, http: HttpClient): Promise<Finding> {
  const { answer } = await http.request(pathOf(calls.interface.url, calls.interface.protocolBinding), {
    method: "OPTIONS",
    headers: {
      origin: strangersOrigin,
      "access-control-request-method": "POST",
      "access-control-request-headers": `content-type,${versionHeader.toLowerCase()}`,
    },
  });
  const id = "browsers.cors";
  const origin = answer?.headers.get("access-control-allow-origin");
  const headers = answer?.headers.get("access-control-allow-headers")?.toLowerCase() ?? "";
  const evidence = quote(
    `preflight: HTTP ${answer?.status ?? "none"}, allow-origin ${origin ?? "none"}, allow-headers ${headers || "none"}`,
  );
  if (answer === undefined || answer.status >= 300 || (origin !== "*" && origin !== strangersOrigin)) {
    return {
      id,
      severity: "note",
      what: "Pages of other origins cannot call: fine, unless browsers are to use this agent.",
      evidence,
      fix: "Answer preflights for the origins that may (CORS).",
    };
  }
  if (origin === strangersOrigin && answer.headers.get("access-control-allow-credentials") === "true") {
    return {
      id,
      severity: "warning",
      what: "Any page may call with the cookies of its visitor.",
      evidence,
      fix: "Allow credentials only to origins that you list.",
    };
  }
  return headers.includes("*") || headers.includes(versionHeader.toLowerCase())
    ? { id, severity: "ok", what: "Pages of other origins may call." }
    : {
        id,
        severity: "warning",
        what: "Pages of other origins may call, but not with A2A-Version: they get no further.",
        evidence,
        fix: "Add A2A-Version, A2A-Extensions and Content-Type to Access-Control-Allow-Headers.",
      };
}

/** HTTP+JSON has nothing at its base. */
function pathOf(url: string, binding: string): string {
  const base = url.replace(/\/+$/, "");
  switch (binding) {
    case "HTTP+JSON":
      return `${base}/message:send`;
    case "JSONRPC":
      return url;
    default:
      return `${base}/lf.a2a.v1.A2AService/SendMessage`;
  }
}
