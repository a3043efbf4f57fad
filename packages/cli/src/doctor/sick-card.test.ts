import type { RequestListener } from "node:http";
import { describe, expect, it } from "vitest";
import { diagnose } from "../../test-support/diagnose.ts";
import { at, card, cardPath, plainCard, send, startSick } from "../../test-support/sick-server.ts";
import type { Finding } from "./findings.ts";

describe("a sick card", () => {
  const cases: readonly [string, RequestListener, Partial<Finding>, Parameters<typeof diagnose>[1]?][] = [
    [
      "a web page in its place",
      at({ [cardPath]: send("<!doctype html><p>Hello", { "content-type": "text/html" }) }),
      { id: "card.web-page", severity: "problem", evidence: expect.stringContaining("<!doctype html>") },
    ],
    ["none at all", at({}), { id: "card.missing", severity: "problem" }],
    [
      "only at the older path",
      at({ "/.well-known/agent.json": send(card()) }),
      { id: "card.older-path", severity: "warning" },
    ],
    [
      "where no client looks",
      at({ "/agent-card.json": send(card()) }),
      { id: "card.wrong-path", severity: "problem" },
    ],
    ["broken JSON", at({ [cardPath]: send('{"name": ') }), { id: "card.no-json", severity: "problem" }],
    ["behind a login", at({ [cardPath]: send("{}", {}, 401) }), { id: "card.login", severity: "problem" }],
    [
      "over 1 MiB",
      at({ [cardPath]: send(card({ description: "x".repeat(1_100_000) })) }),
      { id: "card.too-large", severity: "problem" },
    ],
    ["no object", at({ [cardPath]: send("[]") }), { id: "card.no-card", severity: "problem" }],
    [
      "never answered for",
      at({ [cardPath]: () => {} }),
      { id: "network.timeout", severity: "problem" },
      { timeoutMs: 1_000 },
    ],
    [
      "closed in the middle",
      at({
        [cardPath]: (response) =>
          response.writeHead(200, { "content-length": "100" }).write("{", () => response.destroy()),
      }),
      { id: "network.closed", severity: "problem" },
    ],
    [
      "plain text",
      at({ [cardPath]: send(card(), { "content-type": "text/plain" }) }),
      { id: "card.media-type", severity: "warning" },
    ],
    [
      "behind a redirect",
      at({ [cardPath]: send("", { location: "/card" }, 302), "/card": send(card()) }),
      { id: "card.redirect", severity: "warning" },
    ],
    ["without cache headers", at({ [cardPath]: send(card()) }), { id: "L-5", severity: "warning" }],
    ["without ETag", at({ [cardPath]: send(card()) }), { id: "L-5", severity: "warning" }],
    [
      "an ETag that helps nobody",
      at({ [cardPath]: send(card(), { etag: '"1"' }) }),
      { id: "L-5", what: expect.stringContaining("the whole card every time") },
    ],
    [
      "not to be kept",
      at({ [cardPath]: send(card(), { "cache-control": "no-store" }) }),
      { id: "L-5", severity: "warning" },
    ],
    [
      "of version 0.3",
      at({
        [cardPath]: send(
          JSON.stringify({
            name: "Old",
            url: "http://localhost:9/",
            protocolVersion: "0.3.0",
            preferredTransport: "JSONRPC",
            skills: [],
          }),
        ),
      }),
      {
        id: "card.older",
        severity: "problem",
        evidence: "url, protocolVersion, preferredTransport, version 0.3.0",
      },
    ],
    [
      "members missing",
      at({ [cardPath]: send(JSON.stringify({ ...plainCard, version: undefined, skills: [{ id: "a" }] })) }),
      {
        id: "card.required",
        severity: "problem",
        evidence: "version, skills[0].name, skills[0].description, skills[0].tags",
      },
    ],
    [
      "no interfaces",
      at({ [cardPath]: send(card({ supportedInterfaces: [] })) }),
      { id: "card.values", severity: "problem", evidence: expect.stringContaining("supportedInterfaces") },
    ],
    [
      "very many interfaces",
      at({
        [cardPath]: send(
          card({ supportedInterfaces: Array.from({ length: 40 }, () => plainCard.supportedInterfaces[0]) }),
        ),
      }),
      { id: "interface.too-many", severity: "note", evidence: "24 more" },
    ],
    [
      "wrong types",
      at({ [cardPath]: send(card({ skills: "many" })) }),
      { id: "card.values", severity: "problem", evidence: "skills is no array, but string" },
    ],
    [
      "unknown members",
      at({ [cardPath]: send(card({ url: "x", color: "red" })) }),
      {
        id: "card.older-members",
        severity: "warning",
        evidence: "url, color",
      },
    ],
    [
      "words for media types",
      at({ [cardPath]: send(card({ defaultInputModes: ["text", "file"] })) }),
      {
        id: "card.older-modes",
        severity: "problem",
        evidence: "text, file",
      },
    ],
    [
      "skills nobody can choose",
      at({ [cardPath]: send(card({ skills: [{ id: "a", name: "A", description: "A", tags: [] }] })) }),
      { id: "skills.description", severity: "warning", evidence: "a" },
    ],
    [
      "skills without examples",
      at({ [cardPath]: send(card({ skills: [{ ...plainCard.skills[0], examples: [] }] })) }),
      { id: "skills.examples", severity: "warning" },
    ],
    [
      "two skills of one id",
      at({ [cardPath]: send(card({ skills: [plainCard.skills[0], plainCard.skills[0]] })) }),
      { id: "skills.ids", severity: "problem" },
    ],
    [
      "an unknown scheme required",
      at({ [cardPath]: send(card({ securityRequirements: [{ schemes: { oauth: { list: [] } } }] })) }),
      { id: "security.undeclared", severity: "problem", evidence: "oauth" },
    ],
    [
      "an interface that is not there",
      at({ [cardPath]: send(card()) }),
      {
        id: "network.refused",
        severity: "problem",
        at: ["JSONRPC"],
      },
    ],
    [
      "an interface without a URL",
      at({
        [cardPath]: send(
          card({
            supportedInterfaces: [{ url: "/rpc", protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
          }),
        ),
      }),
      { id: "interface.url", severity: "problem" },
    ],
    [
      "an unknown binding",
      at({
        [cardPath]: send(
          card({ supportedInterfaces: [{ url: "x", protocolBinding: "urn:x", protocolVersion: "1.0" }] }),
        ),
      }),
      { id: "interface.untried", severity: "note" },
    ],
    [
      "an interface without anything",
      at({ [cardPath]: send(card({ supportedInterfaces: [{}] })) }),
      { id: "interface.untried", severity: "note" },
    ],
    [
      "gRPC where a web server is",
      (request, response) =>
        at({
          [cardPath]: send(
            card({
              supportedInterfaces: [
                { url: request.headers.host, protocolBinding: "GRPC", protocolVersion: "1.0" },
              ],
            }),
          ),
        })(request, response),
      { id: expect.stringMatching(/^(interface|network)\./), severity: "problem", at: ["GRPC"] },
    ],
    [
      "a JSON-RPC address that leads to a web page",
      (request, response) =>
        at({
          [cardPath]: send(
            card({
              supportedInterfaces: [
                {
                  url: `http://${request.headers.host}/web`,
                  protocolBinding: "JSONRPC",
                  protocolVersion: "1.0",
                },
              ],
            }),
          ),
          "/web": send("<html>", { "content-type": "text/html" }),
        })(request, response),
      { id: "interface.nonsense", severity: "problem", evidence: expect.stringContaining("<html>") },
    ],
    [
      "escape sequences and novels in its errors",
      at({ [cardPath]: send(`\u001b[2J${"x".repeat(5_000)}`) }),
      { id: "card.no-json", severity: "problem" },
    ],
  ];
  it.for(cases)("is told: %s", async ([, listener, expected, options = {}]) => {
    await using server = await startSick(listener);
    const { findings } = await diagnose(server.url, options);
    expect(findings).toContainEqual(expect.objectContaining(expected));
    expect(findings.filter(({ evidence = "" }) => evidence.length > 600)).toEqual([]);
  });
});
