/** A line that is longer is not copied by hand. */
const maxLength = 4_000;

/** Headers that the tools set themselves. */
const ownHeaders: ReadonlySet<string> = new Set(["content-length", "user-agent", "connection", "host", "te"]);

/** The `curl` line of a request; undefined when it would be too long. */
export function curlCommand(method: string, url: string, headers: Headers, body: string): string | undefined {
  return toLine([
    "curl -i",
    ...(method === (body === "" ? "GET" : "POST") ? [] : [`-X ${method}`]),
    ...headerOptions(headers),
    ...(body === "" ? [] : [`--data-raw ${quote(body)}`]),
    quote(url),
  ]);
}

/** The `buf curl` line of a call, which asks the server for its schema (reflection); undefined when it would be too long. */
export function bufCurlCommand(
  protocol: "grpc" | "grpc-web" | "connect",
  url: string,
  headers: Headers,
  json: string,
): string | undefined {
  return toLine([
    `buf curl --protocol ${protocol === "grpc-web" ? "grpcweb" : protocol}`,
    ...(protocol === "grpc" && url.startsWith("http:") ? ["--http2-prior-knowledge"] : []),
    ...headerOptions(headers).filter((option) => !option.startsWith("-H 'content-type:")),
    `-d ${quote(json)}`,
    quote(url),
  ]);
}

function headerOptions(headers: Headers): string[] {
  return [...headers]
    .filter(([name]) => !ownHeaders.has(name) && !/^(?:connect|grpc)-/.test(name))
    .map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`);
}

/** One word of a POSIX shell, for any text. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function toLine(words: readonly string[]): string | undefined {
  const line = words.join(" ");
  return line.length <= maxLength ? line : undefined;
}
