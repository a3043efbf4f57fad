import type { IncomingMessage, ServerResponse } from "node:http";
import type { AgentCard } from "@a2a-connect/proto";
import { describe, expect, it } from "vitest";
import { agentCard, cardJson, cardJson03 } from "../../test-support/cards.ts";
import { closedAddress, type HttpServer, sendJson, startHttpServer } from "../../test-support/http-server.ts";
import { failureOf, rejectedWith } from "../../test-support/outcomes.ts";
import type { ClientClock } from "../clock.ts";
import {
  AgentError,
  CardInvalidError,
  CardNotFoundError,
  CardRefusedError,
  UnreachableError,
  UntrustedOutputError,
} from "../errors.ts";
import type { ReceivedCard } from "../options.ts";
import { createCardResolver } from "./card-resolver.ts";

const wellKnown = "/.well-known/agent-card.json";

/** A clock that is set by hand, and whose sleeps never end by themselves. */
function handClock(): ClientClock & { ms: number } {
  return {
    ms: Date.UTC(2026, 0, 1),
    now() {
      return this.ms;
    },
    sleep: (_, signal) =>
      new Promise((_resolve, reject) => signal?.addEventListener("abort", () => reject(signal.reason))),
    random: () => 0.5,
  };
}

type Answer = (response: ServerResponse, request: IncomingMessage) => void;

/** A server with an answer for each path; everything else is 404. */
function serve(answers: Readonly<Record<string, Answer>>): Promise<HttpServer> {
  return startHttpServer((request, response) => {
    const answer = answers[request.url ?? ""];
    if (answer === undefined) {
      response.writeHead(404).end();
    } else {
      answer(response, request);
    }
  });
}

const found: Answer = (response) => sendJson(response, cardJson);
const status =
  (code: number, headers: Record<string, string> = {}): Answer =>
  (response) => {
    response.writeHead(code, headers).end();
  };
const page: Answer = (response) => {
  response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><title>Hello</title>");
};
const pathsOf = ({ requests }: HttpServer) => requests.map(({ url }) => url);

describe("finding a card", () => {
  it.each([undefined, null, ""])("says so when it is given %j for an agent", (nothing) => {
    const given = nothing as unknown as string; // as a program without types may call it
    expect(() => createCardResolver(given, {})).toThrow("connectAgent was given no agent.");
  });

  it("asks the well-known path once, for JSON, with the caller's headers", async () => {
    await using server = await serve({ [wellKnown]: found });
    const resolver = createCardResolver(server.url, { headers: { authorization: "Bearer x" } });
    const resolved = await resolver.resolve();
    expect(resolved.card).toEqual(agentCard());
    expect(resolved).toMatchObject({
      warnings: [],
      url: server.url + wellKnown,
      text: JSON.stringify(cardJson),
    });
    expect(server.requests).toHaveLength(1);
    expect(server.requests[0]?.headers).toMatchObject({
      accept: "application/json",
      authorization: "Bearer x",
    });
  });

  for (const code of [404, 405, 410]) {
    it(`goes on to the older path after ${code}`, async () => {
      await using server = await serve({ [wellKnown]: status(code), "/.well-known/agent.json": found });
      const { url } = await createCardResolver(server.url, {}).resolve();
      expect(url).toBe(`${server.url}/.well-known/agent.json`);
    });
  }

  for (const code of [401, 403, 500, 503]) {
    it(`does not look elsewhere after ${code}`, async () => {
      await using server = await serve({ [wellKnown]: status(code), "/.well-known/agent.json": found });
      const error = await rejectedWith(
        createCardResolver(server.url, { retry: { attempts: 1 } }).resolve(),
        CardNotFoundError,
      );
      expect(error.message).toContain(String(code));
      expect(server.requests).toHaveLength(1);
    });
  }

  it("looks below a path, then at the path itself", async () => {
    await using server = await serve({ "/agents/clerk": found });
    const { url } = await createCardResolver(`${server.url}/agents/clerk`, {}).resolve();
    expect(url).toBe(`${server.url}/agents/clerk`);
    expect(pathsOf(server)).toEqual([
      `/agents/clerk${wellKnown}`,
      "/agents/clerk/.well-known/agent.json",
      "/agents/clerk",
    ]);
  });

  it("names all places when it is in none", async () => {
    await using server = await serve({});
    const error = await rejectedWith(createCardResolver(server.url, {}).resolve(), CardNotFoundError);
    expect(error.message).toMatch(/agent-card\.json has no card.*404.*agent\.json/);
    expect(error.hint).toMatch(/address/);
  });

  it("says that there is a web page, though the other place has nothing at all", async () => {
    await using server = await serve({ "/.well-known/agent.json": page });
    const error = await rejectedWith(createCardResolver(server.url, {}).resolve(), CardNotFoundError);
    expect(error.message).toMatch(/agent\.json is a web page/);
  });

  it("says that nothing listens there: that is no missing card", async () => {
    const url = await closedAddress();
    const error = await rejectedWith(createCardResolver(url, {}).resolve(), UnreachableError);
    expect(error.message).toContain(`${url}${wellKnown} refuses connections`);
    expect(error.hint).toMatch(/\S+ \S+/);
    expect(error).not.toBeInstanceOf(CardNotFoundError);
  });

  it("takes JSON that is served as HTML", async () => {
    const answer: Answer = (response) => sendJson(response, cardJson, { "content-type": "text/html" });
    await using server = await serve({ [wellKnown]: answer });
    expect((await createCardResolver(server.url, {}).resolve()).card.name).toBe("Clerk");
  });

  it("reads a card of 0.3, with warnings", async () => {
    await using server = await serve({ [wellKnown]: (response) => sendJson(response, cardJson03) });
    const { card, warnings } = await createCardResolver(server.url, {}).resolve();
    expect(card.supportedInterfaces[0]?.protocolVersion).toBe("0.3");
    expect(warnings).not.toHaveLength(0);
  });

  it("names the place of a card that cannot be used", async () => {
    await using server = await serve({ [wellKnown]: (response) => sendJson(response, { name: "x" }) });
    const error = await rejectedWith(createCardResolver(server.url, {}).resolve(), CardInvalidError);
    expect(error.message).toContain(`${server.url}${wellKnown}`);
    expect(error.message).toContain("supportedInterfaces: is required");
  });
});

describe("redirects", () => {
  const to = (location: string) => status(302, { location });

  it("are followed on the same origin, three times at most", async () => {
    await using server = await serve({
      [wellKnown]: to("/1"),
      "/1": to("2"),
      "/2": to("/3"),
      "/3": found,
    });
    const { url, asked } = await createCardResolver(server.url, {}).resolve();
    expect({ url, asked }).toEqual({ url: `${server.url}/3`, asked: server.url + wellKnown });
    await using further = await serve({
      [wellKnown]: to("/1"),
      "/1": to("/2"),
      "/2": to("/3"),
      "/3": to("/4"),
    });
    const error = await rejectedWith(createCardResolver(further.url, {}).resolve(), AgentError);
    expect(error.message).toMatch(/redirects more than 3 times/);
    expect(further.requests).toHaveLength(4);
  });

  it("to another origin are refused, and get none of the caller's headers", async () => {
    await using other = await serve({ "/secret/card.json": found });
    await using server = await serve({ [wellKnown]: to(`${other.url}/secret/card.json?key=1`) });
    const error = await rejectedWith(
      createCardResolver(server.url, { headers: { authorization: "x" } }).resolve(),
      CardNotFoundError,
    );
    expect(error.message).toContain(`redirects to ${other.url}/secret/card.json,`);
    expect(error.message).not.toContain("key=1");
    expect(other.requests).toHaveLength(0);
  });

  it("from http to https of the same host are followed", async () => {
    const asked: string[] = [];
    const fetch: typeof globalThis.fetch = async (input) => {
      asked.push(String(input));
      return String(input).startsWith("http:")
        ? new Response(null, { status: 301, headers: { location: "https://clerk.example/x.json" } })
        : Response.json(cardJson);
    };
    const { url } = await createCardResolver("http://clerk.example", { fetch }).resolve();
    expect(url).toBe("https://clerk.example/x.json");
    expect(asked).toHaveLength(2);
  });

  for (const [from, location] of [
    ["https://clerk.example", "http://clerk.example/x.json"],
    ["http://clerk.example", "https://other.example/x.json"],
    ["https://clerk.example", "https://www.clerk.example/x.json"],
    ["https://clerk.example", "https://clerk.example:8443/x.json"],
  ] as const) {
    it(`from ${from} to ${location} are refused`, async () => {
      const fetch: typeof globalThis.fetch = async () =>
        new Response(null, { status: 301, headers: { location } });
      const error = await rejectedWith(createCardResolver(from, { fetch }).resolve(), AgentError);
      expect(error.message).toMatch(/another origin/);
    });
  }

  it("that a browser hides are said to be such", async () => {
    const hidden = Object.defineProperties(new Response(), {
      type: { value: "opaqueredirect" },
      status: { value: 0 },
    });
    const fetch: typeof globalThis.fetch = async () => hidden;
    const error = await rejectedWith(createCardResolver("clerk.example", { fetch }).resolve(), AgentError);
    expect(error.message).toMatch(/browser does not say where/);
  });

  it("to what is no URL are refused", async () => {
    await using server = await serve({ [wellKnown]: to("http://[") });
    const error = await rejectedWith(createCardResolver(server.url, {}).resolve(), AgentError);
    expect(error.message).toMatch(/no URL/);
  });
});

describe("a server that gives no card", () => {
  // What else a server may send in place of a card is told by test/client/broken-cards.test.ts.
  it("takes a card of exactly the largest size", async () => {
    const text = JSON.stringify(cardJson);
    await using server = await serve({ [wellKnown]: (response) => sendJson(response, text) });
    const exact = createCardResolver(server.url, { maxCardBytes: text.length });
    expect((await exact.resolve()).text).toBe(text);
    const less = createCardResolver(server.url, { maxCardBytes: text.length - 1 });
    expect(await failureOf(less.resolve())).toBeInstanceOf(CardInvalidError);
  });
});

describe("a server that is out of order", () => {
  /** Fails in each of these ways, one after the other, then has the card. */
  const recovering = (...failures: Answer[]) =>
    serve({
      [wellKnown]: (response, request) => (failures.shift() ?? found)(response, request),
    });
  const cutOff: Answer = (response) => {
    response.writeHead(200, { "content-length": "1000" });
    response.write("{", () => response.destroy());
  };
  const waits = () => {
    const ms: number[] = [];
    const clock: ClientClock = {
      ...handClock(),
      sleep: async (each, signal) => {
        ms.push(each);
        if (ms.length === 1) await handClock().sleep(each, signal); // the time limit, which is never reached
      },
    };
    return { ms, clock };
  };

  it("is asked again, with longer and longer waits", async () => {
    const { ms, clock } = waits();
    await using server = await recovering(status(503), (response) => response.destroy(), cutOff);
    const resolver = createCardResolver(server.url, { clock, retry: { initialDelayMs: 100 } });
    expect((await resolver.resolve()).card.name).toBe("Clerk");
    expect(ms).toEqual([10_000, 75, 150, 300]);
  });

  it("is asked again when it says so", async () => {
    const { ms, clock } = waits();
    await using server = await recovering(status(503, { "retry-after": "3" }));
    await createCardResolver(server.url, { clock }).resolve();
    expect(ms).toEqual([10_000, 3_000]);
  });

  it("is not asked again when that would be too late", async () => {
    const { ms, clock } = waits();
    await using server = await recovering(status(503, { "retry-after": "3" }));
    const resolver = createCardResolver(server.url, { clock, connectTimeoutMs: 3_000 });
    expect((await rejectedWith(resolver.resolve(), AgentError)).message).toMatch(/503/);
    expect(ms).toEqual([3_000]); // the time limit itself
    expect(server.requests).toHaveLength(1);
  });

  it("is asked as often as one may", async () => {
    const { ms, clock } = waits();
    await using server = await recovering(status(502), status(503), status(504));
    const resolver = createCardResolver(server.url, { clock, retry: { attempts: 3 } });
    expect((await rejectedWith(resolver.resolve(), AgentError)).message).toMatch(/504/);
    expect(ms).toHaveLength(3);
    expect(server.requests).toHaveLength(3);
  });

  it("is not asked again when nobody listens, or it says no", async () => {
    const [closed, refusing] = [waits(), waits()];
    await failureOf(createCardResolver(await closedAddress(), { clock: closed.clock }).resolve());
    await using server = await recovering(status(500));
    await failureOf(createCardResolver(server.url, { clock: refusing.clock }).resolve());
    expect([closed.ms, refusing.ms]).toEqual([[10_000], [10_000]]);
  });
});

describe("keeping a card (L-6)", () => {
  it("asks again only when max-age has passed, and then whether it has changed", async () => {
    await using server = await serve({
      [wellKnown]: (response, request) =>
        request.headers["if-none-match"] === '"v1"'
          ? void response.writeHead(304, { "cache-control": "max-age=5" }).end()
          : sendJson(response, cardJson, {
              "cache-control": "max-age=60",
              etag: '"v1"',
              "last-modified": "Thu, 01 Jan 2026 00:00:00 GMT",
            }),
    });
    const clock = handClock();
    const resolver = createCardResolver(server.url, { clock });
    const first = await resolver.resolve();
    clock.ms += 59_999;
    expect(await resolver.resolve()).toBe(first);
    expect(server.requests).toHaveLength(1);
    clock.ms += 1;
    expect(await resolver.resolve()).toBe(first);
    expect(server.requests[1]?.headers).toMatchObject({
      "if-none-match": '"v1"',
      "if-modified-since": "Thu, 01 Jan 2026 00:00:00 GMT",
    });
    clock.ms += 4_999; // by the max-age of the confirmation
    await resolver.resolve();
    expect(server.requests).toHaveLength(2);
    clock.ms += 1;
    await resolver.resolve();
    expect(server.requests).toHaveLength(3);
  });

  it("takes a new one when it has changed", async () => {
    let version = 1;
    await using server = await serve({
      [wellKnown]: (response) =>
        sendJson(response, { ...cardJson, version: `${version}.0.0` }, { "cache-control": "no-cache" }),
    });
    const resolver = createCardResolver(server.url, {});
    const first = await resolver.resolve();
    expect(await resolver.resolve()).toBe(first); // asked, and the same text
    version = 2;
    const second = await resolver.resolve();
    expect(second.card.version).toBe("2.0.0");
    expect(first.card.version).toBe("1.0.0");
    expect(server.requests).toHaveLength(3);
  });

  it("is for the default time without cache headers", async () => {
    await using server = await serve({ [wellKnown]: found });
    const clock = handClock();
    const resolver = createCardResolver(server.url, { clock, cardTtlMs: 1_000 });
    await resolver.resolve();
    clock.ms += 999;
    await resolver.resolve();
    expect(server.requests).toHaveLength(1);
    clock.ms += 1;
    await resolver.resolve();
    expect(server.requests).toHaveLength(2);
  });

  it("is not done with no-store, not even to ask whether it has changed", async () => {
    await using server = await serve({
      [wellKnown]: (response) => sendJson(response, cardJson, { "cache-control": "no-store", etag: '"v1"' }),
    });
    const resolver = createCardResolver(server.url, {});
    await resolver.resolve();
    await resolver.resolve();
    expect(server.requests.map(({ headers }) => headers["if-none-match"])).toEqual([undefined, undefined]);
  });

  it("ends when somebody wants to know for sure", async () => {
    await using server = await serve({
      [wellKnown]: (response) =>
        sendJson(response, cardJson, { "cache-control": "max-age=3600", etag: '"v1"' }),
    });
    const resolver = createCardResolver(server.url, {});
    await resolver.resolve();
    await resolver.refresh();
    expect(server.requests.map(({ headers }) => headers["if-none-match"])).toEqual([undefined, '"v1"']);
  });

  it("begins at the place where it was, and goes on when it has moved", async () => {
    let moved = false;
    await using server = await serve({
      [wellKnown]: (response, request) => (moved ? found(response, request) : status(404)(response, request)),
      "/.well-known/agent.json": (response, request) =>
        moved ? status(404)(response, request) : found(response, request),
    });
    const resolver = createCardResolver(server.url, {});
    await resolver.resolve();
    await resolver.refresh();
    expect(pathsOf(server).slice(2)).toEqual(["/.well-known/agent.json"]);
    moved = true;
    expect((await resolver.refresh()).url).toBe(server.url + wellKnown);
  });

  it("does without a condition where that is not permitted (CORS)", async () => {
    const asked: Headers[] = [];
    const fetch: typeof globalThis.fetch = async (_, init) => {
      const headers = new Headers(init?.headers);
      asked.push(headers);
      if (headers.has("if-none-match")) throw new TypeError("Failed to fetch");
      return Response.json(cardJson, { headers: { etag: '"v1"', "cache-control": "no-cache" } });
    };
    const resolver = createCardResolver("clerk.example", { fetch });
    const first = await resolver.resolve();
    expect(await resolver.resolve()).toBe(first);
    expect(asked.map((headers) => headers.has("if-none-match"))).toEqual([false, true, false]);
  });

  it("does not stand in for a server that is gone: the card may be another one now", async () => {
    const server = await serve({
      [wellKnown]: (response) => sendJson(response, cardJson, { "cache-control": "max-age=1" }),
    });
    const clock = handClock();
    const resolver = createCardResolver(server.url, { clock });
    await resolver.resolve();
    await server[Symbol.asyncDispose]();
    await resolver.resolve(); // still fresh
    clock.ms += 1_000;
    expect(await failureOf(resolver.resolve())).toBeInstanceOf(UnreachableError);
  });
});

describe("callers who ask for a card at the same time", () => {
  it("share one request", async () => {
    await using server = await serve({ [wellKnown]: found });
    const resolver = createCardResolver(server.url, {});
    const all = await Promise.all([resolver.resolve(), resolver.refresh(), resolver.resolve()]);
    expect(new Set(all).size).toBe(1);
    expect(server.requests).toHaveLength(1);
  });

  it("may leave without taking the request away from others", async () => {
    const waiting: ServerResponse[] = [];
    await using server = await serve({ [wellKnown]: (response) => void waiting.push(response) });
    const resolver = createCardResolver(server.url, {});
    const leaving = new AbortController();
    const left = failureOf(resolver.resolve(leaving.signal));
    const stayed = resolver.resolve();
    await expect.poll(() => waiting.length).toBe(1);
    leaving.abort(new Error("no longer interested"));
    expect(await left).toMatchObject({ message: "no longer interested" });
    const [response] = waiting;
    if (response !== undefined) sendJson(response, cardJson);
    expect((await stayed).card.name).toBe("Clerk");
  });

  it("end the request when all have left, and may begin anew", async () => {
    const closed: boolean[] = [];
    let answers = false;
    await using server = await serve({
      [wellKnown]: (response, request) => {
        if (answers) return found(response, request);
        response.on("close", () => closed.push(true));
      },
    });
    const resolver = createCardResolver(server.url, {});
    const leaving = new AbortController();
    const left = failureOf(resolver.resolve(leaving.signal));
    await expect.poll(() => server.requests.length).toBe(1);
    leaving.abort();
    expect(await left).toMatchObject({ name: "AbortError" });
    await expect.poll(() => closed).toEqual([true]);
    answers = true;
    expect((await resolver.resolve()).card.name).toBe("Clerk");
  });

  it("are not served when they have left before they came", async () => {
    await using server = await serve({ [wellKnown]: found });
    const resolver = createCardResolver(server.url, {});
    await resolver.resolve();
    expect(await failureOf(resolver.resolve(AbortSignal.abort()))).toMatchObject({ name: "AbortError" });
  });
});

describe("judging a card", () => {
  for (const [confirmed, headers] of [
    ["comes once more", {}],
    ["is confirmed (304)", { etag: '"1"' }],
  ] as const) {
    it(`is done by its text, then by what is in it, and by its text again when it ${confirmed}`, async () => {
      await using server = await serve({
        [wellKnown]: (response, request) =>
          request.headers["if-none-match"] === undefined
            ? sendJson(response, cardJson, { "cache-control": "no-cache", ...headers })
            : void response.writeHead(304).end(),
      });
      const judged: string[] = [];
      const expired = new Error("the key has expired");
      let refuses = false;
      const resolver = createCardResolver(server.url, {
        verifyCard: ({ text, url, extended }) => {
          judged.push(`verify ${text === JSON.stringify(cardJson)} ${extended} ${url}`);
          if (refuses) throw expired;
        },
        inspect: (inspected) => void judged.push(`inspect ${inspected.kind}`),
      });
      const resolved = await resolver.resolve();
      expect(await resolver.resolve()).toBe(resolved);
      const verified = `verify true false ${server.url}${wellKnown}`;
      expect(judged).toEqual([verified, "inspect card", verified]);
      refuses = true;
      expect(await failureOf(resolver.resolve())).toMatchObject({ name: "CardRefusedError", cause: expired });
      expect(await failureOf(resolver.resolve())).toMatchObject({ name: "CardRefusedError", cause: expired });
      refuses = false;
      expect(await resolver.resolve()).toBe(resolved);
      expect(server.requests).toHaveLength(5);
    });
  }

  it("that was fresh, and is refused when it is asked for: it is asked for each time from then on", async () => {
    let name = "Clerk";
    await using server = await serve({
      [wellKnown]: (response) =>
        sendJson(response, { ...cardJson, name }, { "cache-control": "max-age=3600" }),
    });
    const resolver = createCardResolver(server.url, {
      verifyCard: ({ card }) => {
        if (card.name !== "Clerk") throw new Error("who signed this?");
      },
    });
    const resolved = await resolver.resolve();
    name = "Mallory";
    expect(await resolver.resolve()).toBe(resolved);
    expect(await failureOf(resolver.refresh())).toBeInstanceOf(CardRefusedError);
    expect(await failureOf(resolver.resolve())).toBeInstanceOf(CardRefusedError);
    name = "Clerk";
    expect(await resolver.resolve()).toBe(resolved);
    expect(await resolver.resolve()).toBe(resolved);
    expect(server.requests).toHaveLength(4);
  });

  it("that ends when nobody waits for it any more does not undo what came since", async () => {
    let name = "Clerk";
    await using server = await serve({
      [wellKnown]: (response) =>
        sendJson(response, { ...cardJson, name }, { "cache-control": "max-age=3600" }),
    });
    const isJudged = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const over = Promise.withResolvers<void>();
    const resolver = createCardResolver(server.url, {
      verifyCard: async ({ card }) => {
        if (card.name !== "Clerk") return;
        isJudged.resolve();
        await goOn.promise;
        setImmediate(over.resolve); // after everything that comes of it
      },
    });
    const caller = new AbortController();
    const leaving = failureOf(resolver.resolve(caller.signal));
    await isJudged.promise;
    caller.abort();
    expect(await leaving).toMatchObject({ name: "AbortError" });
    name = "Archivist";
    const resolved = await resolver.resolve();
    goOn.resolve();
    await over.promise;
    expect(await resolver.resolve()).toBe(resolved);
    expect(resolved.card.name).toBe("Archivist");
    expect(server.requests).toHaveLength(2);
  });

  it("is done for those who wait, though the first of them has left", async () => {
    await using server = await serve({
      [wellKnown]: (response) => sendJson(response, cardJson, { "cache-control": "max-age=3600" }),
    });
    const clock = handClock();
    const goOn = Promise.withResolvers<void>();
    let judged = 0;
    const resolver = createCardResolver(server.url, {
      clock,
      verifyCard: async () => {
        judged += 1;
        if (judged > 1) await goOn.promise;
      },
    });
    const resolved = await resolver.resolve();
    clock.ms += 5 * 60_000;
    const caller = new AbortController();
    const leaving = failureOf(resolver.resolve(caller.signal));
    const staying = resolver.resolve();
    caller.abort();
    expect(await leaving).toMatchObject({ name: "AbortError" });
    goOn.resolve();
    expect(await staying).toBe(resolved);
    expect(judged).toBe(2);
    expect(server.requests).toHaveLength(1);
  });

  it("refuses with a CardRefusedError that says what the verifier throws, and keeps nothing", async () => {
    await using server = await serve({ [wellKnown]: found });
    const refusal = new Error("who signed this?");
    let refuses = true;
    const verifyCard = () => {
      if (refuses) throw refusal;
    };
    const resolver = createCardResolver(server.url, { verifyCard });
    const thrown = await rejectedWith(resolver.resolve(), CardRefusedError);
    expect(thrown).toMatchObject({
      code: "card-refused",
      cause: refusal,
      message: `The card at ${server.url}${wellKnown} is not trusted: who signed this?`,
    });
    refuses = false;
    expect((await resolver.resolve()).card.name).toBe("Clerk");
  });

  it("may take longer than connecting, for a person may be asked", async () => {
    await using server = await serve({ [wellKnown]: found });
    let approve = () => {};
    const approved = new Promise<void>((resolve) => {
      approve = resolve;
    });
    const inspect = () => approved;
    const clock = handClock();
    let limit = () => {};
    const sleep: ClientClock["sleep"] = (_, signal) =>
      new Promise((resolve, reject) => {
        limit = resolve;
        signal?.addEventListener("abort", () => reject(signal.reason));
      });
    const resolving = createCardResolver(server.url, { inspect, clock: { ...clock, sleep } }).resolve();
    await expect.poll(() => server.requests.length).toBe(1);
    await new Promise((resolve) => setImmediate(resolve));
    approve();
    limit();
    expect((await resolving).card.name).toBe("Clerk");
  });

  it("refuses with an UntrustedOutputError what the inspector refuses", async () => {
    await using server = await serve({ [wellKnown]: found });
    const refusal = new Error("too colourful");
    const inspect = async () => {
      throw refusal;
    };
    const error = await rejectedWith(
      createCardResolver(server.url, { inspect }).resolve(),
      UntrustedOutputError,
    );
    expect(error).toMatchObject({ cause: refusal });
  });
});

describe("a card that the caller has", () => {
  it("needs no request, and comes back the same", async () => {
    const judged: unknown[] = [];
    const card = agentCard();
    const resolver = createCardResolver(card, {
      fetch: () => Promise.reject(new Error("nobody asked")),
      verifyCard: ({ url, asked, text, extended }) =>
        void judged.push(url, asked, JSON.parse(text), extended),
    });
    const resolved = await resolver.resolve();
    expect(resolved).toMatchObject({ card, warnings: [], url: undefined });
    expect(await resolver.refresh()).toBe(resolved);
    expect(judged).toEqual([undefined, undefined, cardJson, false]);
  });

  it("is judged again after it was refused", async () => {
    let refuses = true;
    const verifyCard = () => {
      if (refuses) throw new Error("who signed this?");
    };
    const resolver = createCardResolver(agentCard(), { verifyCard });
    await failureOf(resolver.resolve());
    refuses = false;
    expect((await resolver.refresh()).card.name).toBe("Clerk");
  });

  it("is verified again after five minutes, and inspected once", async () => {
    const judged: string[] = [];
    const clock = handClock();
    const resolver = createCardResolver(agentCard(), {
      clock,
      verifyCard: () => void judged.push("verify"),
      inspect: ({ kind }) => void judged.push(`inspect ${kind}`),
    });
    const resolved = await resolver.resolve();
    clock.ms += 5 * 60_000 - 1;
    await resolver.recall();
    expect(judged).toEqual(["verify", "inspect card"]);
    clock.ms += 1;
    expect(await resolver.resolve()).toBe(resolved);
    expect(judged).toEqual(["verify", "inspect card", "verify"]);
  });

  it("may be JSON, which is read like a fetched one: its text counts, and unknown members are kept in that", async () => {
    const given = { ...cardJson, mood: "fine" };
    const received: ReceivedCard[] = [];
    const resolver = createCardResolver(given, { verifyCard: (card) => void received.push(card) });
    const resolved = await resolver.resolve();
    expect(resolved.card).toEqual(agentCard());
    expect(received.map(({ text }) => JSON.parse(text))).toEqual([given]);
    const older = await createCardResolver(cardJson03, {}).resolve();
    expect(older.warnings).not.toEqual([]);
    await expect(createCardResolver({ name: "Clerk" }, {}).resolve()).rejects.toThrow(/^The given card/);
  });

  it("is refused when something is missing in it", async () => {
    const incomplete: AgentCard = agentCard({ name: "", supportedInterfaces: [] });
    const refused = await rejectedWith(createCardResolver(incomplete, {}).resolve(), CardInvalidError);
    expect(refused.message).toMatch(/name: is required.*supportedInterfaces/);
  });
});

it("a card from the network is read when the platform has a turn for its agent", async () => {
  await using server = await serve({ [wellKnown]: found });
  const turns: { readonly origin: string; readonly end: () => void }[] = [];
  const turn = (origin: string) => new Promise<void>((end) => turns.push({ origin, end }));
  let isRead = false;
  const resolved = createCardResolver(server.url, { platform: { turn } })
    .resolve()
    .then(({ card }) => {
      isRead = true;
      return card.name;
    });
  await expect.poll(() => turns.map(({ origin }) => origin)).toEqual([new URL(server.url).origin]);
  expect(isRead).toBe(false);
  turns[0]?.end();
  await expect(resolved).resolves.toBe("Clerk");
});

describe("a card from somebody who is not trusted", () => {
  const guardedFetch: typeof globalThis.fetch = async () => Response.json({ ...cardJson, name: "Guarded" });

  it("is fetched by the guard, whatever other fetch the platform has", async () => {
    const fetch: typeof globalThis.fetch = () => Promise.reject(new Error("not this one"));
    const resolver = createCardResolver("clerk.example", {
      untrusted: true,
      platform: { fetch, guardedFetch },
    });
    expect((await resolver.resolve()).card.name).toBe("Guarded");
  });

  it("may be on this machine, when the caller says so", async () => {
    await using server = await serve({ [wellKnown]: found });
    const resolver = createCardResolver(server.url, { untrusted: true, platform: { guardedFetch } });
    expect((await resolver.resolve()).card.name).toBe("Clerk");
  });

  it("needs a platform with a guard", () => {
    expect(() => createCardResolver("clerk.example", { untrusted: true })).toThrow(/node\/client/);
  });
});
