/** The bindings that `--transport` knows, by what people type, in lower case. */
const bindings: Readonly<Record<string, string>> = {
  jsonrpc: "JSONRPC",
  "json-rpc": "JSONRPC",
  "http+json": "HTTP+JSON",
  "http-json": "HTTP+JSON",
  rest: "HTTP+JSON",
  grpc: "GRPC",
  connect: "urn:a2a-connect:binding:connect:v1",
  "grpc-web": "urn:a2a-connect:binding:grpc-web:v1",
};

/** Short names of the bindings, as help and completion show them. */
export const bindingNames: readonly string[] = ["jsonrpc", "http+json", "grpc", "grpc-web", "connect"];

/** The binding as a card writes it (requirement L-4), or undefined for a word that is none. URIs pass. */
export function parseBinding(text: string): string | undefined {
  const word = text.trim();
  return bindings[word.toLowerCase()] ?? (/^[a-z][a-z0-9+.-]*:\S+$/i.test(word) ? word : undefined);
}
