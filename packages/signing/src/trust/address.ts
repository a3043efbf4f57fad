import { formatFieldPath, isLoopbackHost, parseForeignUrl } from "@a2a-connect/core/internal";
import { type Finding, quote } from "../verify/verdict.ts";

/** An address in a card, of an interface or of an authorization server: where it leads, and how. */
export interface Address {
  /** What it is the address of, as a sentence begins. */
  readonly subject: string;
  /** Path within the card. */
  readonly path: string;
  /** As the card writes it. */
  readonly url: string;
  /** In lower case, without a final dot. Of what is no address it is the text itself. */
  readonly hostname: string;
  /** `unsaid`: gRPC's `host:port` leaves it to the caller. `unknown`: no address, or of an unknown scheme. */
  readonly transport: "tls" | "cleartext" | "unsaid" | "unknown";
  /** Whether others between here and there could read along: there is no TLS, and it leaves this machine. */
  readonly isExposed: boolean;
  /** Host, port, path and query: the same for addresses that lead to the same place, with TLS or without. */
  readonly place: string;
}

const transports: ReadonlyMap<string, Address["transport"]> = new Map([
  ["https:", "tls"],
  ["grpcs:", "tls"],
  ["wss:", "tls"],
  ["http:", "cleartext"],
  ["grpc:", "cleartext"],
  ["ws:", "cleartext"],
]);

/** Ports of HTTP: URLs do not name them, but gRPC's targets do. */
const usualPorts: ReadonlySet<string> = new Set(["80", "443"]);

/** Reads a URL, or a gRPC target (`host:port`, `dns:host:port`, `dns://authority/host:port`). Total. */
export function readAddress(text: string, subject: string, path: readonly (string | number)[]): Address {
  const address = text.replace(/[\t\n\r]/g, "").trim(); // as URL parsers do
  const target = address.replace(/^dns:(?:\/\/[^/]*\/)?/i, "");
  const isUrl = target === address && (/^[a-z][a-z\d+.-]*:\/\//i.test(address) || /^https?:/i.test(address));
  const url = parseForeignUrl(isUrl ? address : `ftp://${target}`); // ftp hides neither port 80 nor port 443
  const common = { subject, path: formatFieldPath(path), url: text };
  if (url === undefined || url.hostname === "") {
    const hostname = address.toLowerCase();
    return { ...common, hostname, transport: "unknown", isExposed: false, place: address };
  }
  const hostname = url.hostname.toLowerCase().replace(/\.$/, "");
  const port = usualPorts.has(url.port) ? "" : url.port;
  const transport = isUrl ? (transports.get(url.protocol) ?? "unknown") : transportOf(url);
  return {
    ...common,
    hostname,
    transport,
    isExposed: transport === "cleartext" && !isLoopbackHost(hostname),
    place: `${hostname}:${port}${url.pathname.replace(/\/$/, "")}${url.search}`,
  };
}

/** As clients dial a gRPC target: the ports of HTTP say how, others do not. */
function transportOf({ port, pathname, search, hash }: URL): Address["transport"] {
  if (pathname !== "/" || search !== "" || hash !== "") return "unknown";
  return port === "443" ? "tls" : port === "80" ? "cleartext" : "unsaid";
}

/** That an address is on a host where it should not be. */
export function onOtherHost({ subject, hostname, path }: Address): Finding {
  return { text: `${subject} is on another host, ${quote(hostname)}.`, paths: [path] };
}

/** That an address is reached in cleartext. */
export function withoutTls({ subject, url, path }: Address): Finding {
  return { text: `${subject} is reached without TLS, at ${quote(url)}.`, paths: [path] };
}
