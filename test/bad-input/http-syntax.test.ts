import { describe, expect, it } from "vitest";
import { openConnection } from "./connection.ts";
import { expectDiscreet, serveTarget } from "./target.ts";

const target = serveTarget();

const host = "Host: localhost\r\n";
const close = "A2A-Version: 1.0\r\nConnection: close\r\n";
const fields = `${host}${close}`;
const json = "Content-Type: application/json\r\n";
const list = '{"jsonrpc":"2.0","id":1,"method":"ListTasks"}';

/** A request for that target, with a field of its own. */
const get = (target: string, field?: string): string =>
  `GET ${target} HTTP/1.1\r\n${fields}${field === undefined ? "" : `${field}\r\n`}\r\n`;

/** A call of JSON-RPC, from the fields that say how long it is. */
const post = (rest: string): string => `POST /rpc HTTP/1.1\r\n${fields}${json}${rest}`;

const refused = '"error":{"code":400';
const malformed = '{"error":{"code":400,"status":"INVALID_ARGUMENT","message":"Malformed HTTP request"}}';

/** What intermediaries and servers have read differently (RFC 9112 §3, §5, §6, §11). */
const rows: readonly (readonly [
  title: string,
  /** The bytes of a whole request. */
  request: string,
  /** Of the first answer. */
  status: number,
  /** What its body contains. */
  body?: string,
])[] = [
  ["an absolute target", get("http://127.0.0.1/rest/tasks"), 200, '"tasks":[]'],
  [
    "an absolute target elsewhere, which counts more than the host",
    get("http://elsewhere.example/rest/tasks"),
    421,
    "elsewhere.example",
  ],
  ["an absolute target of another scheme", get("ftp://localhost/rest/tasks"), 400, refused],
  ["an absolute target with user info", get("http://a:b@localhost/rest/tasks"), 200],
  ["a target that is no path", get("rest/tasks"), 400, refused],
  ["an asterisk", `OPTIONS * HTTP/1.1\r\n${fields}\r\n`, 404],
  ["a target with two slashes", get("//elsewhere.example/rest/tasks"), 404],
  ["a fragment in the target", get("/rest/tasks#x"), 200],
  ["a NUL in the target", get("/rest/\0"), 400, refused],
  ["a space in the target", get("/rest/ta sks"), 400, refused],
  ["no host", `GET /rest/tasks HTTP/1.1\r\n${close}\r\n`, 400, refused],
  ["an empty host", `GET /rest/tasks HTTP/1.1\r\nHost:\r\n${close}\r\n`, 400, refused],
  ["a path in the host", `GET /rest/tasks HTTP/1.1\r\nHost: localhost/b\r\n${close}\r\n`, 400, refused],
  [
    "a host that is longer than a domain name",
    `GET /rest/tasks HTTP/1.1\r\nHost: ${"%E4%B8%80".repeat(40)}\r\n${close}\r\n`,
    400,
    refused,
  ],
  ["such a host in an absolute target", get(`http://${"%E4%B8%80".repeat(40)}/rest/tasks`), 400, refused],
  ["user info in the host", `GET /rest/tasks HTTP/1.1\r\nHost: a@localhost\r\n${close}\r\n`, 400, refused],
  ["two hosts", `GET /rest/tasks HTTP/1.1\r\n${host}Host: evil.example\r\n${close}\r\n`, 400, refused],
  ["the same host twice", `GET /rest/tasks HTTP/1.1\r\n${host}hOST: localhost\r\n${close}\r\n`, 400, refused],
  [
    "a host beside that of an absolute target, twice",
    `GET http://localhost/rest/tasks HTTP/1.1\r\n${host}${host}${close}\r\n`,
    400,
    refused,
  ],
  ["two hosts in HTTP/1.0", `GET /healthz HTTP/1.0\r\n${host}${host}\r\n`, 400, refused],
  ["HTTP/1.0 without a host", "GET /healthz HTTP/1.0\r\n\r\n", 200],
  ["a version of HTTP that is none", `GET /healthz HTTP/3.7\r\n${fields}\r\n`, 400, refused],
  ["no version of HTTP, which makes it HTTP/0.9", "GET /healthz\r\n\r\n", 200],
  ["a verb that HTTP does not know", `BREW /rest/tasks HTTP/1.1\r\n${fields}\r\n`, 400, refused],
  ["a tunnel", `CONNECT elsewhere.example:443 HTTP/1.1\r\n${fields}\r\n`, 405, '"code":405'],
  [
    "a length and chunks",
    post("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    400,
    refused,
  ],
  ["two lengths", post("Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello"), 400, refused],
  ["a negative length", post("Content-Length: -1\r\n\r\n"), 400, refused],
  ["a length in hexadecimal", post("Content-Length: 0x5\r\n\r\nhello"), 400, refused],
  ["a length beyond all numbers", post("Content-Length: 99999999999999999999999\r\n\r\n"), 400, refused],
  ["a coding beside chunked", post("Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n"), 400, refused],
  ["a chunk size that is no number", post("Transfer-Encoding: chunked\r\n\r\nzz\r\n"), 400],
  ["a chunk size of 16 digits", post("Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n"), 400],
  [
    "chunk extensions of 20 KiB",
    post(`Transfer-Encoding: chunked\r\n\r\n5;${"e".repeat(20_480)}\r\nhello\r\n0\r\n\r\n`),
    413,
  ],
  ["a space before a colon", get("/rest/tasks", "X-A : b"), 400, refused],
  ["a folded line", get("/rest/tasks", "X-A: b\r\n c"), 400, refused],
  ["a NUL in a field", get("/rest/tasks", "X-A: b\0c"), 400, refused],
  ["a bare carriage return in a field", get("/rest/tasks", "X-A: b\rc"), 400, refused],
  ["a field without a name", get("/rest/tasks", ": b"), 400, refused],
  ["a field of 64 KiB", get("/rest/tasks", `X-A: ${"b".repeat(65_536)}`), 431, '"code":431'],
  [
    "a field whose name has 2,000 characters",
    get("/rest/tasks", `${"x".repeat(2_000)}: b`),
    431,
    '"code":431',
  ],
  ["fields called __proto__ and constructor", get("/rest/tasks", "__proto__: x\r\nconstructor: y"), 200],
  ["a target of 64 KiB", get(`/rest/tasks?x=${"y".repeat(65_536)}`), 431, '"code":431'],
  [
    "an upgrade to h2c, which is ignored",
    `GET /rest/tasks HTTP/1.1\r\n${host}A2A-Version: 1.0\r\nConnection: close, Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n`,
    200,
  ],
  [
    "an upgrade to WebSocket",
    `GET /rpc HTTP/1.1\r\n${host}Connection: close, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
    405,
  ],
  [
    "an expectation that nobody can meet",
    post(`Expect: a-miracle\r\nContent-Length: ${list.length}\r\n\r\n${list}`),
    417,
  ],
  ["a body with GET", `GET /rest/tasks HTTP/1.1\r\n${fields}${json}Content-Length: 5\r\n\r\nhello`, 200],
  ["the preface of HTTP/2 with another version", "PRI * HTTP/1.9\r\n\r\nSM\r\n\r\n", 400, malformed],
  ["the greeting of TLS", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400, malformed],
  ["the greeting of SSH", "SSH-2.0-OpenSSH_9.6\r\n", 400, malformed],
  ["noise", "\0\0\0\0\r\n\r\n", 400, malformed],
];

describe("bytes that HTTP/1.1 does not allow, or hardly", () => {
  for (const [title, request, status, body] of rows) {
    it(`are answered ${status}: ${title}`, async () => {
      using connection = await openConnection(target.port);
      await connection.write(request);
      const answer = await connection.ended();
      expectDiscreet(answer);
      expect(answer).not.toMatch(/<html|<!doctype/i);
      const [head] = answer.split("\r\n");
      expect(/^HTTP\/1\.[01] (\d{3})/.exec(head ?? "")?.[1]).toBe(`${status}`);
      if (body !== undefined) expect(answer).toContain(body);
      // One request, one answer: what follows a refusal must not be read as a request of its own.
      expect(answer.split(/HTTP\/1\.1 \d{3} /).length).toBeLessThanOrEqual(2);
      await target.answersGoodCall();
    });
  }

  it("are answered 413 before they have come: a length of 1 TiB", async () => {
    using connection = await openConnection(target.port);
    await connection.write(post("Content-Length: 1099511627776\r\n\r\n"));
    const answer = await connection.until("BODY_TOO_LARGE");
    expectDiscreet(answer);
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    // The server reads on for a while, so that the answer is not lost, unless the caller leaves.
    connection.socket.end();
    expect((await connection.ended()).split(/HTTP\/1\.1 \d{3} /)).toHaveLength(2);
    await target.answersGoodCall();
  });

  it("are never read as a second request", async () => {
    using connection = await openConnection(target.port);
    const smuggled = `GET /healthz HTTP/1.1\r\n${host}\r\n`;
    const request = `POST /rpc HTTP/1.1\r\n${host}${json}Content-Length: ${smuggled.length}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`;
    await connection.write(request);
    const answer = await connection.ended();
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).not.toContain("200 OK");
    await target.answersGoodCall();
  });
});

describe("bytes that HTTP/2 does not allow", () => {
  const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  /** An HTTP/2 frame (RFC 9113 §4.1). */
  const frame = (
    type: number,
    flags: number,
    stream: number,
    payload = "",
    length = payload.length,
  ): string => {
    const head = Buffer.alloc(9);
    head.writeUIntBE(length, 0, 3);
    head.writeUInt8(type, 3);
    head.writeUInt8(flags, 4);
    head.writeUInt32BE(stream, 5);
    return head.toString("latin1") + payload;
  };
  const settings = frame(4, 0, 0);
  for (const [title, bytes] of [
    ["no settings after the preface", preface + frame(6, 0, 0, "12345678")],
    ["settings on a stream", preface + frame(4, 0, 1)],
    ["settings of five bytes", preface + frame(4, 0, 0, "12345")],
    ["a frame beyond the agreed size", preface + settings + frame(0, 0, 1, "x".repeat(100), 0xff_ffff)],
    ["data on a stream that nobody opened", preface + settings + frame(0, 0, 1, "hello")],
    ["a stream with an even number", preface + settings + frame(1, 5, 2, "\x82")],
    ["header fields that HPACK cannot read", preface + settings + frame(1, 5, 1, "\xff\xff\xff\xff\xff\xff")],
    ["a continuation of nothing", preface + settings + frame(9, 4, 1, "\x82")],
    ["a ping of three bytes", preface + settings + frame(6, 0, 0, "123")],
    ["a window that overflows", preface + settings + frame(8, 0, 0, "\x7f\xff\xff\xff")],
    ["HTTP/1.1 after the preface", `${preface}GET / HTTP/1.1\r\n${host}\r\n`],
  ] as const) {
    it(`end their connection and no other: ${title}`, async () => {
      using connection = await openConnection(target.port);
      await connection.write(bytes);
      expectDiscreet(await connection.ended());
      await target.answersGoodCall();
    });
  }

  for (const [title, fields] of [
    ["fields of 48 KiB", { "x-big": "b".repeat(49_152) }],
    ["a name of 2,000 characters", { ["x".repeat(2_000)]: "b" }],
  ] as const) {
    it(`are refused by the request when nothing else is wrong: ${title}`, async () => {
      const answer = await target.send({ http: 2, verb: "GET", target: "/rest/tasks", fields });
      expect(answer.status).toBe(431);
      await target.answersGoodCall();
    });
  }

  for (const [title, fields] of [
    ["another host beside the authority", { ":authority": "localhost", host: "evil.example" }],
    ["an authority that is none", { ":authority": "1.2.3.999" }],
    ["an authority that is longer than a domain name", { ":authority": "%E4%B8%80".repeat(40) }],
    [
      "another spelling that is longer than a domain name",
      { ":authority": "localhost", host: "%E4%B8%80".repeat(40) },
    ],
    ["another port", { ":authority": "localhost:81", host: "localhost:82" }],
  ] as const) {
    it(`are refused by the request when nothing else is wrong: ${title}`, async () => {
      const all = { "a2a-version": "1.0", ...fields };
      const answer = await target.send({ http: 2, verb: "GET", target: "/rest/tasks", fields: all });
      expect(answer.status).toBe(400);
      expect(new TextDecoder().decode(answer.body)).toContain(refused);
      await target.answersGoodCall();
    });
  }

  it("are none when the authority and the host are two spellings of one", async () => {
    const fields = { "a2a-version": "1.0", ":authority": "localhost:80", host: "LOCALHOST" };
    const answer = await target.send({ http: 2, verb: "GET", target: "/rest/tasks", fields });
    expect(answer.status).toBe(200);
  });

  it("reset their stream when nothing else is wrong: a path without a slash", async () => {
    const call = target.send({ http: 2, verb: "GET", target: "rest/tasks", fields: {} });
    await expect(call).rejects.toThrow("NGHTTP2_PROTOCOL_ERROR");
    await target.answersGoodCall();
  });
});
