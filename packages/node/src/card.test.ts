import { createHash } from "node:crypto";
import { gunzipSync } from "node:zlib";
import { type AgentDefinition, createMemoryTaskStore } from "@a2a-connect/server";
import { canonicalSignedCard } from "@a2a-connect/signing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { get, httpVersions } from "../test-support/get.ts";
import { type ServedAgent, serve } from "./serve.ts";

const agent: AgentDefinition = {
  card: {
    name: "Translator",
    description: "",
    version: "1.2.0",
    skills: [{ id: "translate", name: "Übersetzen", description: "Translates texts.", tags: ["text"] }],
    securitySchemes: {
      key: { scheme: { case: "apiKeySecurityScheme", value: { name: "k", location: "header" } } },
    },
  },
  execute: () => [],
};

const path = "/.well-known/agent-card.json";
const long = { "accept-encoding": "gzip" };

describe.each(httpVersions)("the agent card over %s", (version) => {
  let served: ServedAgent;
  let url = "";
  beforeAll(async () => {
    served = await serve(agent, {
      store: createMemoryTaskStore(),
      protocolVersions: ["1.0"], // that of older versions as well is another document: test/versions
      cardMaxAgeSeconds: 60,
      olderCardPath: true,
    });
    url = served.url + path;
  });
  afterAll(() => served.close({ graceMs: 0 }));

  const ask = (headers: Record<string, string> = {}, method = "GET") =>
    get(url, { version, method, headers });

  it("is its canonical form, and its ETag the digest of that (L-5)", async () => {
    const { status, headers, body } = await ask();
    expect(status).toBe(200);
    expect(body.toString()).toBe(canonicalSignedCard(served.card));
    expect(canonicalSignedCard(body.toString())).toBe(body.toString());
    expect(JSON.parse(body.toString())).toMatchObject({ name: "Translator", description: "" });
    expect(headers).toMatchObject({
      "content-type": "application/json",
      "content-length": String(body.length),
      "cache-control": "public, max-age=60",
      etag: `"${createHash("sha256").update(body).digest("hex")}"`,
      vary: "accept-encoding",
    });
    expect(headers).not.toHaveProperty("content-encoding");
    expect(Math.abs(Date.parse(headers["last-modified"] ?? "") - Date.now())).toBeLessThan(60_000);
  });

  it("is compressed for those who take that, with a tag of its own", async () => {
    const [plain, zipped] = [await ask(), await ask(long)];
    expect(zipped.headers).toMatchObject({
      "content-encoding": "gzip",
      "content-length": String(zipped.body.length),
      vary: "accept-encoding",
    });
    expect(zipped.body.length).toBeLessThan(plain.body.length);
    expect(gunzipSync(zipped.body)).toEqual(plain.body);
    expect(zipped.headers.etag).toBe(plain.headers.etag?.replace(/"$/, '-gzip"'));
  });

  it.each<[string, string | undefined]>([
    ["gzip", "gzip"],
    ["br, gzip;q=0.5", "gzip"],
    ["*", "gzip"],
    ["identity", undefined],
    ["br", undefined],
    ["gzip;q=0", undefined],
    ["gzip;q=0, *", undefined],
    ["identity;q=1, gzip;q=0.1", undefined],
    ["", undefined],
  ])("answers Accept-Encoding %j with %s", async (accepted, coding) => {
    const { status, headers } = await ask({ "accept-encoding": accepted });
    expect([status, headers["content-encoding"]]).toEqual([200, coding]);
  });

  it.each([{}, long])("tells HEAD all that GET is told (%j)", async (headers) => {
    const [got, head] = [await ask(headers), await ask(headers, "HEAD")];
    expect(head.body).toHaveLength(0);
    expect(head.status).toBe(200);
    expect({ ...head.headers, date: "" }).toEqual({ ...got.headers, date: "" });
  });

  it("is not sent again to those who have it in the coding that they would get", async () => {
    const { headers: plain } = await ask();
    const { headers: zipped } = await ask(long);
    const [etag = "", gzipTag = "", date = ""] = [plain.etag, zipped.etag, plain["last-modified"]];
    for (const [conditions, tag] of [
      [{ "if-none-match": etag }, etag],
      [{ "if-none-match": gzipTag, ...long }, gzipTag],
      [{ "if-none-match": `"other", W/${etag}` }, etag],
      [{ "if-none-match": "*", ...long }, gzipTag],
      [{ "if-modified-since": date }, etag],
      [{ "if-none-match": etag, "if-modified-since": "Thu, 01 Jan 1970 00:00:00 GMT" }, etag],
    ] satisfies [Record<string, string>, string][]) {
      for (const method of ["GET", "HEAD"]) {
        const { status, headers, body } = await ask(conditions, method);
        expect([status, headers.etag, body.length], JSON.stringify(conditions)).toEqual([304, tag, 0]);
        expect(headers).toMatchObject({
          "cache-control": "public, max-age=60",
          "last-modified": date,
          vary: "accept-encoding",
        });
        expect(headers).not.toHaveProperty("content-type");
        expect(headers).not.toHaveProperty("content-length");
      }
    }
  });

  it("is sent to those who have it in a coding that they do not take now (RFC 9110 §8.8.3.3)", async () => {
    const [{ headers: plain }, { headers: zipped }] = [await ask(), await ask(long)];
    const [etag = "", gzipTag = ""] = [plain.etag, zipped.etag];
    expect([
      (await ask({ "if-none-match": gzipTag })).headers.etag,
      (await ask({ "if-none-match": etag, ...long })).headers.etag,
      (await ask({ "if-match": gzipTag })).status,
      (await ask({ "if-match": etag, ...long })).status,
      (await ask({ "if-match": gzipTag, ...long })).status,
    ]).toEqual([etag, gzipTag, 412, 412, 200]);
    expect((await ask({ "if-none-match": gzipTag })).status).toBe(200);
  });

  it("is not hidden by what a shared cache keeps: 412 may not be kept", async () => {
    const { status, headers } = await ask({ "if-match": '"other"' });
    expect(status).toBe(412);
    expect(headers["cache-control"]).toBe("no-store");
    expect(headers).not.toHaveProperty("last-modified");
  });

  it.each<[string, string, number]>([
    ["if-none-match", '"other"', 200],
    ["if-none-match", '*, "other"', 200],
    ["if-modified-since", "Thu, 01 Jan 1970 00:00:00 GMT", 200],
    ["if-modified-since", "2099-01-01", 200],
    ["if-match", "*", 200],
    ["if-match", '"other"', 412],
    ["if-unmodified-since", "Thu, 01 Jan 1970 00:00:00 GMT", 412],
    ["range", "bytes=0-9", 200],
  ])("answers %s: %s with %i", async (name, value, expected) => {
    const { status, body } = await ask({ [name]: value });
    expect([status, body.length > 20]).toEqual([expected, expected === 200]);
  });

  it.each(["POST", "PUT", "DELETE", "OPTIONS"])("refuses %s", async (method) => {
    const { status, headers } = await ask({}, method);
    expect([status, headers.allow]).toEqual([405, "GET, HEAD"]);
  });

  it("is also where it was before, when that is wanted", async () => {
    const older = await get(`${served.url}/.well-known/agent.json`, { version });
    const newer = await ask();
    expect([older.status, older.body, older.headers.etag]).toEqual([200, newer.body, newer.headers.etag]);
  });
});

describe.each(httpVersions)("a card that is updated, over %s", (version) => {
  it("has another ETag at once, so that those who have the one before get it", async () => {
    const described = { ...agent, card: { ...agent.card, description: "Translates." } };
    const served = await serve(described, { store: createMemoryTaskStore() });
    const url = served.url + path;
    const { etag = "" } = (await get(url, { version })).headers;
    served.cards.update({ ...described.card, version: "1.3.0" });
    const updated = await get(url, { version, headers: { "if-none-match": etag } });
    expect([updated.status, JSON.parse(updated.body.toString()).version]).toEqual([200, "1.3.0"]);
    expect(updated.headers.etag).not.toBe(etag);
    served.cards.update(described.card);
    expect((await get(url, { version, headers: { "if-none-match": etag } })).status).toBe(304);
    await served.close({ graceMs: 0 });
  });
});

describe("what a server does not have", () => {
  it("is not found: the older path for callers of 1.0 alone, and keys when nothing is signed", async () => {
    const served = await serve(agent, { store: createMemoryTaskStore(), protocolVersions: ["1.0"] });
    for (const missing of ["/.well-known/agent.json", "/.well-known/jwks.json"]) {
      expect((await get(served.url + missing)).status).toBe(404);
    }
    await served.close({ graceMs: 0 });
  });

  it.each(["/openapi.json", "/healthz", "/"])("has no other length for HEAD: %s", async (page) => {
    const served = await serve(agent, { store: createMemoryTaskStore() });
    const [got, head] = [await get(served.url + page), await get(served.url + page, { method: "HEAD" })];
    expect([head.headers["content-length"], head.body.length]).toEqual([String(got.body.length), 0]);
    await served.close({ graceMs: 0 });
  });
});
