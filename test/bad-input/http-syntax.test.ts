import { describe, expect, it } from "vitest";
import { openConnection } from "./connection.ts";
import { expectDiscreet, serveTarget } from "./target.ts";

const target = serveTarget();

interface Row {
  readonly title: string;
  /** The bytes of a whole request. */
  readonly request: string;
  /** Of the first answer; undefined when there must be none. */
  readonly status: number | undefined;
  /** What its body contains. */
  readonly body?: string;
}

const host = "Host: localhost\r\n";
const close = "A2A-Version: 1.0\r\nConnection: close\r\n";
const fields = `${host}${close}`;
const json = "Content-Type: application/json\r\n";
const list = '{"jsonrpc":"2.0","id":1,"method":"ListTasks"}';
const refused = '"error":{"code":400';

/** What intermediaries and servers have read differently (RFC 9112 §3, §5, §6, §11). */
const rows: readonly Row[] = [
  {
    title: "an absolute target",
    request: `GET http://127.0.0.1/rest/tasks HTTP/1.1\r\n${fields}\r\n`,
    status: 200,
    body: '"tasks":[]',
  },
  {
    title: "an absolute target elsewhere, which counts more than the host",
    request: `GET http://elsewhere.example/rest/tasks HTTP/1.1\r\n${fields}\r\n`,
    status: 421,
    body: "elsewhere.example",
  },
  {
    title: "an absolute target of another scheme",
    request: `GET ftp://localhost/rest/tasks HTTP/1.1\r\n${fields}\r\n`,
    status: 400,
    body: refused,
  },
  {
    title: "an absolute target with user info",
    request: `GET http://a:b@localhost/rest/tasks HTTP/1.1\r\n${fields}\r\n`,
    status: 200,
  },
  {
    title: "a target that is no path",
    request: `GET rest/tasks HTTP/1.1\r\n${fields}\r\n`,
    status: 400,
    body: refused,
  },
  { title: "an asterisk", request: `OPTIONS * HTTP/1.1\r\n${fields}\r\n`, status: 404 },
  {
    title: "a target with two slashes",
    request: `GET //elsewhere.example/rest/tasks HTTP/1.1\r\n${fields}\r\n`,
    status: 404,
  },
  { title: "a fragment in the target", request: `GET /rest/tasks#x HTTP/1.1\r\n${fields}\r\n`, status: 200 },
  {
    title: "a NUL in the target",
    request: `GET /rest/\0 HTTP/1.1\r\n${fields}\r\n`,
    status: 400,
    body: refused,
  },
  {
    title: "a space in the target",
    request: `GET /rest/ta sks HTTP/1.1\r\n${fields}\r\n`,
    status: 400,
    body: refused,
  },
  {
    title: "no host",
    request: `GET /rest/tasks HTTP/1.1\r\n${close}\r\n`,
    status: 400,
    body: refused,
  },
  {
    title: "an empty host",
    request: `GET /rest/tasks HTTP/1.1\r\nHost:\r\n${close}\r\n`,
    status: 400,
    body: refused,
  },
  {
    title: "a path in the host",
    request: `GET /rest/tasks HTTP/1.1\r\nHost: localhost/b\r\n${close}\r\n`,
    status: 400,
    body: refused,
  },
  {
    title: "user info in the host",
    request: `GET /rest/tasks HTTP/1.1\r\nHost: a@localhost\r\n${close}\r\n`,
    status: 400,
    body: refused,
  },
  {
    title: "two hosts",
    request: `GET /rest/tasks HTTP/1.1\r\n${host}Host: evil.example\r\n${close}\r\n`,
    status: 400,
    body: refused,
  },
  {
    title: "the same host twice",
    request: `GET /rest/tasks HTTP/1.1\r\n${host}hOST: localhost\r\n${close}\r\n`,
    status: 400,
    body: refused,
  },
  {
    title: "a host beside that of an absolute target, twice",
    request: `GET http://localhost/rest/tasks HTTP/1.1\r\n${host}${host}${close}\r\n`,
    status: 400,
    body: refused,
  },
  {
    title: "two hosts in HTTP/1.0",
    request: `GET /healthz HTTP/1.0\r\n${host}${host}\r\n`,
    status: 400,
    body: refused,
  },
  { title: "HTTP/1.0 without a host", request: "GET /healthz HTTP/1.0\r\n\r\n", status: 200 },
  {
    title: "a version of HTTP that is none",
    request: `GET /healthz HTTP/3.7\r\n${fields}\r\n`,
    status: 400,
    body: refused,
  },
  { title: "no version of HTTP, which makes it HTTP/0.9", request: "GET /healthz\r\n\r\n", status: 200 },
  {
    title: "a verb that HTTP does not know",
    request: `BREW /rest/tasks HTTP/1.1\r\n${fields}\r\n`,
    status: 400,
    body: refused,
  },
  {
    title: "a tunnel",
    request: `CONNECT elsewhere.example:443 HTTP/1.1\r\n${fields}\r\n`,
    status: undefined,
  },
  {
    title: "a length and chunks",
    request: `POST /rpc HTTP/1.1\r\n${fields}${json}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    status: 400,
    body: refused,
  },
  {
    title: "two lengths",
    request: `POST /rpc HTTP/1.1\r\n${fields}${json}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello`,
    status: 400,
    body: refused,
  },
  {
    title: "a negative length",
    request: `POST /rpc HTTP/1.1\r\n${fields}${json}Content-Length: -1\r\n\r\n`,
    status: 400,
    body: refused,
  },
  {
    title: "a length in hexadecimal",
    request: `POST /rpc HTTP/1.1\r\n${fields}${json}Content-Length: 0x5\r\n\r\nhello`,
    status: 400,
    body: refused,
  },
  {
    title: "a length beyond all numbers",
    request: `POST /rpc HTTP/1.1\r\n${fields}${json}Content-Length: 99999999999999999999999\r\n\r\n`,
    status: 400,
    body: refused,
  },
  {
    title: "a length of 1 TiB",
    request: `POST /rpc HTTP/1.1\r\n${fields}${json}Content-Length: 1099511627776\r\n\r\n`,
    status: 413,
    body: "BODY_TOO_LARGE",
  },
  {
    title: "a coding beside chunked",
    request: `POST /rpc HTTP/1.1\r\n${fields}${json}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`,
    status: 400,
    body: refused,
  },
  {
    title: "a chunk size that is no number",
    request: `POST /rpc HTTP/1.1\r\n${fields}${json}Transfer-Encoding: chunked\r\n\r\nzz\r\n`,
    status: 400,
  },
  {
    title: "a chunk size of 16 digits",
    request: `POST /rpc HTTP/1.1\r\n${fields}${json}Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n`,
    status: 400,
  },
  {
    title: "chunk extensions of 20 KiB",
    request: `POST /rpc HTTP/1.1\r\n${fields}${json}Transfer-Encoding: chunked\r\n\r\n5;${"e".repeat(20_480)}\r\nhello\r\n0\r\n\r\n`,
    status: 413,
  },
  {
    title: "a space before a colon",
    request: `GET /rest/tasks HTTP/1.1\r\n${fields}X-A : b\r\n\r\n`,
    status: 400,
    body: refused,
  },
  {
    title: "a folded line",
    request: `GET /rest/tasks HTTP/1.1\r\n${fields}X-A: b\r\n c\r\n\r\n`,
    status: 400,
    body: refused,
  },
  {
    title: "a NUL in a field",
    request: `GET /rest/tasks HTTP/1.1\r\n${fields}X-A: b\0c\r\n\r\n`,
    status: 400,
    body: refused,
  },
  {
    title: "a bare carriage return in a field",
    request: `GET /rest/tasks HTTP/1.1\r\n${fields}X-A: b\rc\r\n\r\n`,
    status: 400,
    body: refused,
  },
  {
    title: "a field without a name",
    request: `GET /rest/tasks HTTP/1.1\r\n${fields}: b\r\n\r\n`,
    status: 400,
    body: refused,
  },
  {
    title: "a field of 64 KiB",
    request: `GET /rest/tasks HTTP/1.1\r\n${fields}X-A: ${"b".repeat(65_536)}\r\n\r\n`,
    status: 431,
    body: '"code":431',
  },
  {
    title: "fields called __proto__ and constructor",
    request: `GET /rest/tasks HTTP/1.1\r\n${fields}__proto__: x\r\nconstructor: y\r\n\r\n`,
    status: 200,
  },
  {
    title: "a target of 64 KiB",
    request: `GET /rest/tasks?x=${"y".repeat(65_536)} HTTP/1.1\r\n${fields}\r\n`,
    status: 431,
    body: '"code":431',
  },
  {
    title: "an upgrade to h2c, which is ignored",
    request: `GET /rest/tasks HTTP/1.1\r\n${host}A2A-Version: 1.0\r\nConnection: close, Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n`,
    status: 200,
  },
  {
    title: "an upgrade to WebSocket",
    request: `GET /rpc HTTP/1.1\r\n${host}Connection: close, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
    status: 405,
  },
  {
    title: "an expectation that nobody can meet",
    request: `POST /rpc HTTP/1.1\r\n${fields}${json}Expect: a-miracle\r\nContent-Length: ${list.length}\r\n\r\n${list}`,
    status: 417,
  },
  {
    title: "a body with GET",
    request: `GET /rest/tasks HTTP/1.1\r\n${fields}${json}Content-Length: 5\r\n\r\nhello`,
    status: 200,
  },
  {
    title: "the preface of HTTP/2 with another version",
    request: "PRI * HTTP/1.9\r\n\r\nSM\r\n\r\n",
    status: 400,
    body: refused,
  },
  {
    title: "the greeting of TLS",
    request: "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    status: 400,
    body: refused,
  },
  { title: "the greeting of SSH", request: "SSH-2.0-OpenSSH_9.6\r\n", status: 400, body: refused },
];

describe("bytes that HTTP/1.1 does not allow, or hardly", () => {
  for (const { title, request, status, body } of rows) {
    it(`are answered ${status ?? "with a closed connection"}: ${title}`, async () => {
      using connection = await openConnection(target.port);
      await connection.write(request);
      const answer = await connection.ended();
      expectDiscreet(answer);
      expect(answer).not.toMatch(/<html|<!doctype/i);
      const [head] = answer.split("\r\n");
      expect(/^HTTP\/1\.[01] (\d{3})/.exec(head ?? "")?.[1]).toBe(status?.toString());
      if (body !== undefined) expect(answer).toContain(body);
      // One request, one answer: what follows a refusal must not be read as a request of its own.
      expect(answer.split(/HTTP\/1\.1 \d{3} /).length).toBeLessThanOrEqual(2);
      await target.answersGoodCall();
    });
  }

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

  it("are refused by the request when nothing else is wrong: fields of 48 KiB", async () => {
    const fields = { "x-big": "b".repeat(49_152) };
    const answer = await target.send({ http: 2, verb: "GET", target: "/rest/tasks", fields });
    expect(answer.status).toBe(431);
    await target.answersGoodCall();
  });

  for (const [title, fields] of [
    ["another host beside the authority", { ":authority": "localhost", host: "evil.example" }],
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
