import { once } from "node:events";
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from "node:http2";
import { connect as connectSocket } from "node:net";
import { createRpcHandlers, registerReflection } from "@a2a-connect/bindings/server";
import { scaleToHeap } from "@a2a-connect/core/internal";
import { A2AService } from "@a2a-connect/proto";
import { expect, it } from "vitest";
import { createGate, json } from "../../test-support/handlers.ts";
import { openHttp2 } from "../../test-support/http2-call.ts";
import { listen } from "./listen.ts";

/** Of one caller: a smaller heap has fewer. */
const most = Math.floor((7 / 8) * scaleToHeap(128));

const reflection = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";

it.each([
  ["application/grpc", { "grpc-status": "8" }],
  ["application/grpc-web", { "grpc-status": "8" }],
  ["application/connect+proto", { ":status": 200 }],
])(
  "reflection streams beyond their number are over at once, and their callers may ask later (%s)",
  async (type, refusal) => {
    const handlers = createRpcHandlers({ service: A2AService, methods: {} }, {}, (router) =>
      registerReflection(router, { services: [A2AService] }),
    );
    await using listener = await listen(async (request) => {
      const handler = handlers.get(new URL(request.url).pathname);
      return handler === undefined ? { status: 404 } : handler(request);
    });
    using session = openHttp2(listener.url);
    const ask = (): ClientHttp2Stream =>
      session
        .request({ ":method": "POST", ":path": reflection, "content-type": type, te: "trailers" })
        .resume();
    const streams = Array.from({ length: 1_000 }, ask);
    const refused = await Promise.all(
      streams.slice(most).map(async (stream) => {
        const [[head]] = await Promise.all([once(stream, "response"), once(stream, "close")]); // its request has not ended
        return head;
      }),
    );
    expect(
      refused.every((head) => Object.entries(refusal).every(([name, value]) => head[name] === value)),
    ).toBe(true);
    const open = streams.filter(({ closed }) => !closed);
    expect(open).toHaveLength(most);
    for (const stream of open) stream.close(constants.NGHTTP2_CANCEL);
    await Promise.all(open.map((stream) => stream.closed || once(stream, "close")));
    await refusedNoMore(session, ask);
  },
);

/** The server learns of a cancelled stream a moment after its caller. */
async function refusedNoMore(session: ClientHttp2Session, ask: () => ClientHttp2Stream): Promise<void> {
  for (;;) {
    const stream = ask();
    const [answered] = await Promise.race([
      once(stream, "close").then(() => [false]),
      new Promise<[boolean]>((resolve) => session.ping(() => resolve([true]))),
    ]);
    if (answered === true && !stream.closed) return;
  }
}

it("streams beyond those of all connections are refused for a repeat, and a connection that goes on is told to stop", async () => {
  const gate = createGate();
  let begun = 0;
  await using listener = await listen(
    async () => {
      begun += 1;
      await gate.opened;
      return { status: 200 };
    },
    { maxStreams: 80 },
  );
  const open = (localAddress: string, count: number) => {
    const session = connect(listener.url, {
      createConnection: () => connectSocket({ port: listener.port, host: "127.0.0.1", localAddress }),
    });
    session.on("error", () => undefined);
    const streams = Array.from({ length: count }, () => {
      const stream = session.request({}).resume();
      const { promise, resolve } = Promise.withResolvers<number | undefined>();
      stream.on("error", () => undefined).on("response", (head) => resolve(head[":status"]));
      stream.on("close", () => resolve(stream.rstCode));
      return promise;
    });
    return { session, streams };
  };
  const first = open("127.0.0.1", 40);
  const greedy = open("127.0.0.1", 1_100);
  const [code] = await once(greedy.session, "goaway");
  expect(code).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  const other = open("127.0.0.2", 1);
  gate.open();
  expect(await Promise.all(first.streams)).toEqual(Array.from({ length: 40 }, () => 200));
  expect(await Promise.all(other.streams)).toEqual([200]);
  const outcomes = await Promise.all(greedy.streams);
  expect(begun).toBe(71); // 7/8 of 80 are one address's
  // Node's client gives up what it has when it is told to stop; others keep it.
  const refused = outcomes.filter((outcome) => outcome === constants.NGHTTP2_REFUSED_STREAM);
  expect(refused.length).toBeGreaterThanOrEqual(1_000);
  for (const { session } of [first, greedy, other]) session.destroy();
});

it("streams of a caller behind a trusted proxy are refused beyond its part, and the proxy's connection goes on for others", async () => {
  const gate = createGate();
  await using listener = await listen(
    async () => {
      await gate.opened;
      return { status: 200 };
    },
    { maxStreams: 80, trustedProxies: ["loopback"] },
  );
  using session = openHttp2(listener.url);
  let told = 0;
  session.on("goaway", () => (told += 1));
  const call = async (address: string): Promise<number | undefined> => {
    const stream = session.request({ "x-forwarded-for": address }).resume();
    const { promise, resolve } = Promise.withResolvers<number | undefined>();
    stream.on("error", () => undefined).on("response", (head) => resolve(head[":status"]));
    stream.on("close", () => resolve(stream.rstCode));
    return promise;
  };
  const refused: unknown[] = [];
  const rest = Promise.withResolvers<void>();
  const greedy = Array.from({ length: 1_200 }, async () => {
    const outcome = await call("203.0.113.1");
    if (outcome === constants.NGHTTP2_REFUSED_STREAM && refused.push(outcome) === 1_130) rest.resolve();
    return outcome;
  });
  await rest.promise; // 70 of 80 are one caller's
  const other = call("203.0.113.2");
  gate.open();
  expect(await other).toBe(200);
  expect((await Promise.all(greedy)).filter((outcome) => outcome === 200)).toHaveLength(70);
  expect(told).toBe(0);
});

it("a connection may have more than a thousand calls with large headers", async () => {
  const gate = createGate();
  let begun = 0;
  await using listener = await listen(async () => {
    begun += 1;
    await gate.opened;
    return { status: 200 };
  });
  using session = openHttp2(listener.url);
  await once(session, "remoteSettings");
  const statuses = Array.from({ length: 1_700 }, async () => {
    const stream = session.request({ authorization: `Bearer ${"x".repeat(8_000)}` }).resume();
    const [head] = await once(stream, "response");
    return head[":status"];
  });
  await expect.poll(() => begun).toBe(1_700);
  gate.open();
  expect(new Set(await Promise.all(statuses))).toEqual(new Set([200]));
});

it("a stream with a large header takes the places of several until it closes", async () => {
  const gate = createGate();
  let [begun, refused] = [0, 0];
  await using listener = await listen(
    async (request) => {
      begun += 1;
      await gate.opened;
      return json(request.header.has("x-large"));
    },
    { maxStreams: 80 },
  );
  using session = openHttp2(listener.url);
  const open = (): Promise<number | undefined> => {
    const { promise, resolve } = Promise.withResolvers<number | undefined>();
    const stream = session.request(
      { ":method": "POST", "x-large": "x".repeat(20_000) },
      { endStream: false },
    );
    stream
      .on("error", () => undefined)
      .on("response", (head) => {
        resolve(head[":status"]);
        stream.end();
      });
    stream.once("close", () => {
      if (stream.rstCode === constants.NGHTTP2_REFUSED_STREAM) refused += 1;
      resolve(stream.rstCode);
    });
    stream.resume();
    return promise;
  };
  // One address has 70 places, and each of these takes five.
  const outcomes = Array.from({ length: 15 }, open);
  await expect.poll(() => begun + refused).toBe(15);
  gate.open();
  expect(await Promise.all(outcomes)).toEqual([
    ...Array.from({ length: 14 }, () => 200),
    constants.NGHTTP2_REFUSED_STREAM,
  ]);
  await expect.poll(open).toBe(200); // the server learns of the ends a moment later
});
