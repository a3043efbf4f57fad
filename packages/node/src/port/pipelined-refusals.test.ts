import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { createGate } from "../../test-support/handlers.ts";
import { openRawConnection } from "../../test-support/raw-connection.ts";
import { type Listener, listen } from "./listen.ts";
import type { ListenOptions } from "./listen-options.ts";

const get = (path: string, fields = ""): string => `GET ${path} HTTP/1.1\r\nhost: localhost\r\n${fields}\r\n`;
const connectRequest = "CONNECT elsewhere.example:443 HTTP/1.1\r\nhost: elsewhere.example\r\n\r\n";

/** What comes after requests that are answered, and the status of its own answer; none when it only closes. */
const ends: readonly (readonly [what: string, bytes: string, status: string | undefined])[] = [
  ["bytes that are no request", "nonsense\r\n\r\n", "400"],
  ["a request for a tunnel", connectRequest, "405"],
  ["fields beyond their limit", get("/large", `x: ${"y".repeat(40_000)}\r\n`), "431"],
  [
    "a request whose body is broken",
    "POST /broken HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
    "400",
  ],
  ["a last request, and another", `${get("/last", "connection: close\r\n")}${get("/never")}`, "200"],
];

it.each(ends)("answers what came before %s, and closes", async (_, bytes, status) => {
  const { listener, gate, begun } = await listenSlowly();
  await using _listener = listener;
  using connection = await openRawConnection(listener.port);
  await connection.write(Array.from({ length: 12 }, (_, at) => get(`/${at}`)).join("") + bytes);
  await once(begun, "full"); // eight of them run, the others wait
  gate.open();
  const received = await connection.closed();
  const answers = [...received.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, code]) => code);
  expect(answers).toEqual([...Array.from({ length: 12 }, () => "200"), status]);
  for (let at = 0; at < 12; at += 1) expect(received).toContain(`answer to /${at};`);
  expect(received).not.toContain("answer to /never");
});

it.each(ends)("a stream goes on before %s, and the connection closes after it", async (_, bytes, status) => {
  const next = createGate();
  async function* body(): AsyncGenerator<Uint8Array> {
    yield Buffer.from("first;");
    await next.opened;
    yield Buffer.from("x".repeat(4_000_000)); // more than a socket takes at once
    yield Buffer.from("last;");
  }
  await using listener = await listen(async (request) => {
    if (request.url.endsWith("/stream")) return { status: 200, body: body() };
    for await (const _ of request.body); // a broken one never ends
    return { status: 200, body: "answer" };
  });
  using connection = await openRawConnection(listener.port);
  await connection.write(get("/stream"));
  await connection.until("first;");
  await connection.write(bytes);
  expect(await (await fetch(`${listener.url}/other`)).text()).toBe("answer");
  next.open();
  const received = await connection.closed();
  expect(received).toContain("last;");
  expect([...received.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, code]) => code)).toEqual(["200", status]);
});

describe("a request whose rest is not read for longer than it may take, because others wait before it", () => {
  const size = 60_000; // a few slices
  const body = "x".repeat(size);
  const post = (path: string): string =>
    `POST ${path} HTTP/1.1\r\nhost: a\r\ncontent-length: ${size}\r\n\r\n${body}`;
  const large = (path: string): string => get(path, `x: ${"x".repeat(350)}\r\n`);
  const limits = { headersTimeoutMs: 200, requestTimeoutMs: 400 };

  /** When others were too late that have come after it, twice. */
  async function letTimePass(listener: Listener): Promise<void> {
    for (let count = 0; count < 2; count += 1) {
      using late = await openRawConnection(listener.port);
      await late.write("GET / HTTP/1.1\r\nhost: localhost\r\n");
      expect(await late.closed()).toContain("HTTP/1.1 408 ");
    }
  }

  it.each([
    ["a header", 100, large],
    ["a body", 12, post],
  ])("is answered: %s", async (_, count, ask) => {
    const { listener, gate, begun } = await listenSlowly(limits);
    await using _listener = listener;
    using connection = await openRawConnection(listener.port);
    const requests = Array.from({ length: count }, (_, at) => ask(`/${at}`)).join("");
    void connection.write(requests + get("/last", "connection: close\r\n"));
    await once(begun, "full");
    await letTimePass(listener);
    gate.open();
    const received = await connection.closed();
    expect(received).toContain("answer to /last;");
    expect(received.match(/HTTP\/1\.1 \d{3}/g)).toEqual(Array(count + 1).fill("HTTP/1.1 200"));
  });

  it.each([
    ["a header", large("/never").slice(0, 100)],
    ["a body", post("/broken").slice(0, 100)],
  ])("is refused when it does not come then, either: %s", async (_, bytes) => {
    const { listener, gate, begun } = await listenSlowly(limits);
    await using _listener = listener;
    using connection = await openRawConnection(listener.port);
    await connection.write(Array.from({ length: 12 }, (_, at) => get(`/${at}`)).join("") + bytes);
    await once(begun, "full");
    await letTimePass(listener);
    gate.open();
    expect((await connection.closed()).match(/HTTP\/1\.1 \d{3}/g)).toEqual([
      ...Array(12).fill("HTTP/1.1 200"),
      "HTTP/1.1 408",
    ]);
  });
});

it.each([
  ["the first", ""],
  ["a later one", get("/first")],
])(
  "a header that is not complete has its own time, where a whole request may take days: %s",
  async (_, before) => {
    await using listener = await listen(async () => ({ status: 200 }), {
      headersTimeoutMs: 50,
      requestTimeoutMs: 2 ** 30,
    });
    using connection = await openRawConnection(listener.port);
    await connection.write(before);
    if (before !== "") await connection.until("\r\n\r\n");
    await connection.write(get("/late").slice(0, -2));
    expect(await connection.closed()).toContain("HTTP/1.1 408 ");
  },
);

it("a request for a tunnel alone is answered", async () => {
  await using listener = await listen(async () => ({ status: 200 }));
  using connection = await openRawConnection(listener.port);
  await connection.write(connectRequest);
  expect(await connection.closed()).toMatch(/^HTTP\/1\.1 405 [\s\S]*no proxy/);
});

it("calls of a caller that has gone after a request for a tunnel are ended", async () => {
  const [gone, begun] = [createGate(), createGate()];
  await using listener = await listen(async ({ signal }) => {
    signal.addEventListener("abort", () => gone.open());
    begun.open();
    await gone.opened;
    return { status: 200 };
  });
  using connection = await openRawConnection(listener.port);
  await connection.write(get("/") + connectRequest);
  await begun.opened;
  connection.socket.resetAndDestroy();
  await gone.opened;
});

async function listenSlowly(limits: ListenOptions = {}) {
  const gate = createGate();
  const begun = new EventTarget();
  let running = 0;
  const listener: Listener = await listen(async ({ url, body }) => {
    const { pathname } = new URL(url);
    running += 1;
    if (running === 8) setImmediate(() => begun.dispatchEvent(new Event("full")));
    if (pathname === "/broken") for await (const _ of body);
    await gate.opened;
    return { status: 200, body: `answer to ${pathname};` };
  }, limits);
  return { listener, gate, begun };
}
