import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { text } from "node:stream/consumers";
import { findA2AError, methods } from "@a2a-connect/core";
import { A2AService, type AgentInterface } from "@a2a-connect/proto";
import { type Client, Code, ConnectError, createClient, type Interceptor } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { agentCard, agentInterface } from "../../test-support/cards.ts";
import { closedAddress, startHttpServer } from "../../test-support/http-server.ts";
import { collect, rejectedWith } from "../../test-support/outcomes.ts";
import { NoInterfaceError } from "../errors.ts";
import type { BindingTransport } from "../platform.ts";
import { webTransports } from "../transports/web-transports.ts";
import { AgentTransport } from "./agent-transport.ts";
import { chooseInterfaces } from "./choose-interfaces.ts";
import { wasNeverSent } from "./never-sent.ts";
import type { InterfaceSettings } from "./used-card.ts";

/** One JSON-RPC request as it arrived. */
interface Received {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly headers: IncomingMessage["headers"];
}

interface RpcServer extends AsyncDisposable {
  readonly url: string;
  readonly received: readonly Received[];
  /** Requests whose connection is cut instead of answered, from now on. */
  hangsUp: boolean;
  /** The HTTP status of all answers from now on. */
  status: number;
}

const task = { id: "t1", contextId: "c1", status: { state: "TASK_STATE_COMPLETED" } };

/** A server that takes every JSON-RPC call and answers it with hardly anything. */
async function startRpcServer(port = 0): Promise<RpcServer> {
  const received: Received[] = [];
  const state = { hangsUp: false, status: 200 };
  const server = await startHttpServer(
    async (request, response) => {
      const { id, method, params } = JSON.parse(await text(request));
      received.push({ method, params, headers: request.headers });
      if (state.hangsUp) request.socket.destroy();
      else answer(response, state.status, id, method, params);
    },
    { port },
  );
  return Object.assign(state, { ...server, url: `${server.url}/rpc`, received });
}

function answer(
  response: ServerResponse,
  status: number,
  id: unknown,
  method: string,
  params: { id?: string },
): void {
  if (status !== 200) {
    response.writeHead(status, { "retry-after": "7" }).end();
    return;
  }
  const missing = { code: -32001, message: "no such task" };
  const body = {
    jsonrpc: "2.0",
    id,
    ...(params.id === "missing" ? { error: missing } : { result: resultOf(method) }),
  };
  if (method.startsWith("SendStreaming") || method.startsWith("Subscribe")) {
    response.writeHead(200, { "content-type": "text/event-stream" }).end(`data: ${JSON.stringify(body)}\n\n`);
  } else {
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
  }
}

function resultOf(method: string): object {
  if (method === "SendMessage" || method.startsWith("SendStreaming") || method.startsWith("Subscribe")) {
    return { task };
  }
  return method === "GetTask" || method === "CancelTask" ? task : {};
}

interface Settings extends InterfaceSettings {
  /** Where the card is. */
  readonly cardUrl?: string;
}

interface Opened extends Disposable {
  readonly interfaces: AgentTransport;
  readonly client: Client<typeof A2AService>;
  readonly warnings: readonly string[];
}

/** Opens the JSON-RPC interfaces at these addresses, best first. */
function open(
  offers: readonly (string | Parameters<typeof agentInterface>[0])[],
  settings: Settings = {},
): Opened {
  return openCard(
    offers.map((offer) => agentInterface(typeof offer === "string" ? { url: offer } : offer)),
    settings,
  );
}

function openCard(supportedInterfaces: AgentInterface[], { cardUrl, ...settings }: Settings): Opened {
  const warnings: string[] = [];
  const candidates = chooseInterfaces(
    agentCard({ supportedInterfaces }),
    {
      protocolVersions: ["1.0", "1.1"],
      ...settings,
    },
    webTransports,
  );
  const interfaces = new AgentTransport({
    resolved: { card: agentCard(), warnings: [], url: cardUrl, asked: undefined, text: "" },
    candidates,
    settings: { onWarning: (warning) => warnings.push(warning), ...settings },
    honoursKeys: false,
  });
  return {
    interfaces,
    client: createClient(A2AService, interfaces),
    warnings,
    [Symbol.dispose]: () => interfaces.close(),
  };
}

/** Every operation once, by name. */
const calls: Readonly<Record<string, (client: Client<typeof A2AService>) => Promise<unknown>>> = {
  SendMessage: (client) => client.sendMessage({ message: { messageId: "m", parts: [] } }),
  SendStreamingMessage: (client) =>
    collect(client.sendStreamingMessage({ message: { messageId: "m", parts: [] } })),
  GetTask: (client) => client.getTask({ id: "t1" }),
  ListTasks: (client) => client.listTasks({}),
  CancelTask: (client) => client.cancelTask({ id: "t1" }),
  SubscribeToTask: (client) => collect(client.subscribeToTask({ id: "t1" })),
  CreateTaskPushNotificationConfig: (client) =>
    client.createTaskPushNotificationConfig({ taskId: "t1", url: "https://hook.example" }),
  GetTaskPushNotificationConfig: (client) => client.getTaskPushNotificationConfig({ taskId: "t1", id: "p" }),
  ListTaskPushNotificationConfigs: (client) => client.listTaskPushNotificationConfigs({ taskId: "t1" }),
  GetExtendedAgentCard: (client) => client.getExtendedAgentCard({}),
  DeleteTaskPushNotificationConfig: (client) =>
    client.deleteTaskPushNotificationConfig({ taskId: "t1", id: "p" }),
};

/** Those that create something each time. */
const unrepeatable = ["SendMessage", "SendStreamingMessage", "CreateTaskPushNotificationConfig"];

const connectErrorOf = (call: Promise<unknown>) => rejectedWith(call, ConnectError);

it("all operations are tried here", () => {
  expect(Object.keys(calls).sort()).toEqual(
    Object.values(methods)
      .map(({ name }) => name)
      .sort(),
  );
});

describe("every request of an interface", () => {
  it("has exactly the interface's tenant, and the caller's message stays as it is", async () => {
    await using server = await startRpcServer();
    using opened = open([{ url: server.url, tenant: "acme" }]);
    using plain = open([server.url]);
    const request = { $typeName: "lf.a2a.v1.GetTaskRequest", id: "t1", tenant: "other" } as const;
    await opened.client.getTask(request);
    await plain.client.getTask(request);
    expect(server.received.map(({ params }) => params["tenant"])).toEqual(["acme", undefined]);
    expect(request.tenant).toBe("other");
  });

  it("has the headers of the call before those of the settings, but never another version", async () => {
    await using server = await startRpcServer();
    const offer = { url: server.url, protocolVersion: "1.1" };
    using opened = open([offer], { extensions: ["urn:x"], headers: { "x-own": "1", "x-other": "1" } });
    await opened.client.getTask(
      { id: "t1" },
      { headers: { "X-Own": "2", "A2A-Version": "0.3", "a2a-extensions": "urn:z, urn:x" } },
    );
    expect(server.received[0]?.headers).toMatchObject({
      "x-own": "2",
      "x-other": "1",
      "a2a-version": "1.1",
      "a2a-extensions": "urn:x,urn:z",
    });
  });

  it("passes the caller's interceptors, which see it as it is sent", async () => {
    await using server = await startRpcServer();
    const seen: unknown[] = [];
    const look: Interceptor = (next) => (request) => {
      seen.push(request.header.get("a2a-version"), request.stream || request.message);
      return next(request);
    };
    using opened = open([{ url: server.url, tenant: "acme" }], { interceptors: [look] });
    await opened.client.getTask({ id: "t1" });
    expect(seen).toEqual(["1.0", expect.objectContaining({ tenant: "acme" })]);
  });
});

describe("an interface that is not there", () => {
  for (const [name, call] of Object.entries(calls)) {
    it(`is left for the next one, which has a tenant and a version of its own: ${name}`, async () => {
      await using server = await startRpcServer();
      const closed = await closedAddress();
      using opened = open([
        { url: closed, tenant: "acme", protocolVersion: "1.1" },
        { url: server.url, tenant: "beta" },
      ]);
      await call(opened.client);
      expect(server.received).toHaveLength(1);
      expect(server.received[0]?.params["tenant"]).toBe("beta");
      expect(server.received[0]?.headers["a2a-version"]).toBe("1.0");
      expect(opened.interfaces.current.interface.url).toBe(server.url);
      expect(opened.warnings).toEqual([
        `JSONRPC at ${closed}/ refuses connections: nothing listens there; JSONRPC at ${server.url} is used instead.`,
      ]);
    });
  }

  it("is not asked again while the other one answers", async () => {
    await using server = await startRpcServer();
    let closedTries = 0;
    const closed = await closedAddress();
    const counting: typeof fetch = (input, init) => {
      if (String(input).startsWith(closed)) closedTries += 1;
      return fetch(input, init);
    };
    using opened = open([closed, server.url], { fetch: counting });
    await opened.client.getTask({ id: "t1" });
    await opened.client.getTask({ id: "t1" });
    await collect(opened.client.subscribeToTask({ id: "t1" }));
    expect(closedTries).toBe(1);
    expect(opened.warnings).toHaveLength(1);
  });

  it("is come back to when the other one is gone", async () => {
    const first = await startRpcServer();
    const second = await startRpcServer();
    await first[Symbol.asyncDispose]();
    using opened = open([first.url, second.url]);
    await opened.client.getTask({ id: "t1" });
    expect(opened.interfaces.current.interface.url).toBe(second.url);
    await second[Symbol.asyncDispose]();
    await using back = await startRpcServer(Number(new URL(first.url).port));
    // A kept connection may break once before the client knows that the server is gone.
    await expect
      .poll(() =>
        opened.client.sendMessage({}).then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
    expect(back.received).toHaveLength(1);
    expect(opened.interfaces.current.interface.url).toBe(first.url);
    expect(opened.warnings).toHaveLength(2);
  });

  it("is told with all others and why, when none is there; nothing was sent", async () => {
    const [one, other] = [await closedAddress(), await closedAddress()];
    using opened = open([one, { url: other, protocolBinding: "HTTP+JSON" }]);
    for (const call of Object.values(calls)) {
      const error = await connectErrorOf(call(opened.client));
      expect(error.code).toBe(Code.Unavailable);
      expect(error.rawMessage).toBe(
        `JSONRPC at ${one}/ refuses connections: nothing listens there; HTTP+JSON at ${other}/ refuses connections: nothing listens there`,
      );
      expect(wasNeverSent(error)).toBe(true);
    }
    expect(opened.interfaces.current.interface.url).toBe(one);
    expect(opened.warnings).toEqual([]);
  });

  it("is told by its address when it is the only one", async () => {
    const closed = await closedAddress();
    using opened = open([closed]);
    const error = await connectErrorOf(opened.client.getTask({ id: "t1" }));
    expect(error.rawMessage).toBe(`JSONRPC at ${closed}/ refuses connections: nothing listens there`);
    expect(wasNeverSent(error)).toBe(true);
  });
});

describe("an interface that hangs up", () => {
  for (const [name, call] of Object.entries(calls)) {
    const repeats = !unrepeatable.includes(name);
    it(`${repeats ? "is left for the next one" : "may have taken the request, which is not made again"}: ${name}`, async () => {
      await using first = await startRpcServer();
      await using second = await startRpcServer();
      first.hangsUp = true;
      using opened = open([first.url, second.url]);
      const outcome = call(opened.client);
      if (repeats) {
        await outcome;
        expect(opened.warnings).toHaveLength(1);
      } else {
        const error = await connectErrorOf(outcome);
        expect(error.code).toBe(Code.Unavailable);
        expect(wasNeverSent(error)).toBe(false);
      }
      expect(first.received).toHaveLength(1);
      expect(second.received).toHaveLength(repeats ? 1 : 0);
    });
  }

  it("is left for the next one with a push config that has its id", async () => {
    await using first = await startRpcServer();
    await using second = await startRpcServer();
    first.hangsUp = true;
    using opened = open([first.url, second.url]);
    const config = { taskId: "t1", id: "p", url: "https://hook.example" };
    await opened.client.createTaskPushNotificationConfig(config);
    expect(second.received).toHaveLength(1);
  });

  it("is kept when it has answered before: it may be there again in a moment", async () => {
    await using first = await startRpcServer();
    await using second = await startRpcServer();
    using opened = open([first.url, second.url]);
    await opened.client.getTask({ id: "t1" });
    first.hangsUp = true;
    expect((await connectErrorOf(opened.client.getTask({ id: "t1" }))).code).toBe(Code.Unavailable);
    expect(second.received).toEqual([]);
    first.hangsUp = false;
    await opened.client.getTask({ id: "t1" });
    expect(opened.interfaces.current.interface.url).toBe(first.url);
  });
});

describe("an interface that fails several times in a row", () => {
  it("is left alone, until one trial after a pause is answered", async () => {
    await using first = await startRpcServer();
    await using second = await startRpcServer();
    let nowMs = 0;
    const clock = { now: () => nowMs, sleep: () => Promise.resolve(), random: () => 0 };
    using opened = open([first.url, second.url], { clock });
    const ask = () => opened.client.getTask({ id: "t1" });
    await ask();
    first.hangsUp = true;
    for (let failure = 0; failure < 3; failure++) await connectErrorOf(ask());
    expect([first.received.length, second.received.length]).toEqual([4, 0]);
    await ask();
    await opened.client.sendMessage({});
    expect([first.received.length, second.received.length]).toEqual([4, 2]);
    expect(opened.interfaces.current.interface.url).toBe(second.url);

    nowMs += 30_000;
    await opened.client.sendMessage({}); // may not be sent twice, so it is no trial
    expect(first.received).toHaveLength(4);
    await connectErrorOf(ask());
    await ask();
    expect([first.received.length, second.received.length]).toEqual([5, 4]);

    first.hangsUp = false;
    nowMs += 30_000;
    await Promise.all([ask(), ask()]);
    expect([first.received.length, second.received.length]).toEqual([6, 5]);
    expect(opened.interfaces.current.interface.url).toBe(first.url);
    expect(opened.warnings).toEqual([
      `JSONRPC at ${first.url} has failed several times in a row; JSONRPC at ${second.url} is used instead.`,
      `JSONRPC at ${first.url} answers again and is used instead of JSONRPC at ${second.url}.`,
    ]);
  });

  it("is asked all the same when there is no other", async () => {
    await using server = await startRpcServer();
    using opened = open([server.url]);
    server.hangsUp = true;
    for (let failure = 0; failure < 5; failure++) await connectErrorOf(opened.client.getTask({ id: "t1" }));
    server.hangsUp = false;
    await opened.client.getTask({ id: "t1" });
    expect(server.received).toHaveLength(6);
  });
});

describe("an interface that answers with an error", () => {
  it("has answered: no other one is asked", async () => {
    await using first = await startRpcServer();
    await using second = await startRpcServer();
    using opened = open([first.url, second.url]);
    const error = await connectErrorOf(opened.client.getTask({ id: "missing" }));
    expect(findA2AError(error)?.reason).toBe("TASK_NOT_FOUND");
    first.hangsUp = true;
    await connectErrorOf(opened.client.getTask({ id: "t1" }));
    expect(second.received).toEqual([]);
  });

  it("is the one in use, when the one before was not there", async () => {
    await using server = await startRpcServer();
    using opened = open([await closedAddress(), server.url]);
    await connectErrorOf(opened.client.getTask({ id: "missing" }));
    expect(opened.interfaces.current.interface.url).toBe(server.url);
    expect(opened.warnings).toHaveLength(1);
  });

  it("is heard with its own words, when it is overloaded and nobody else is there", async () => {
    await using server = await startRpcServer();
    server.status = 503;
    using opened = open([server.url, await closedAddress()]);
    const error = await connectErrorOf(opened.client.getTask({ id: "t1" }));
    expect(error.code).toBe(Code.Unavailable);
    expect(error.metadata.get("retry-after")).toBe("7");
    expect(wasNeverSent(error)).toBe(false);
  });
});

describe("a call that may not take long", () => {
  it("is not begun again when its time is up", async () => {
    await using second = await startRpcServer();
    const hanging = createTcpServer();
    hanging.listen(0, "127.0.0.1");
    await once(hanging, "listening");
    const { port } = hanging.address() as AddressInfo; // of a TCP server
    using opened = open([`http://127.0.0.1:${port}/rpc`, second.url]);
    const error = await connectErrorOf(opened.client.getTask({ id: "t1" }, { timeoutMs: 50 }));
    expect(error.code).toBe(Code.DeadlineExceeded);
    expect(second.received).toEqual([]);
    hanging.close();
  });

  it("has for the next interface what the first left over", async () => {
    await using server = await startRpcServer();
    const timeouts: (number | undefined)[] = [];
    const slow: BindingTransport = {
      binding: "urn:slow",
      open: () => ({
        close: () => {},
        transport: {
          unary: async (_method, _signal, timeoutMs) => {
            timeouts.push(timeoutMs);
            now += 300;
            throw new ConnectError("gone", Code.Unavailable);
          },
          stream: () => Promise.reject(new Error("not used")),
        },
      }),
    };
    let now = 0;
    const clock = { now: () => now, sleep: () => Promise.resolve(), random: () => 0 };
    const platform = { transports: [slow] };
    const offers = [
      { protocolBinding: "urn:slow" },
      { protocolBinding: "urn:slow" },
      { protocolBinding: "urn:slow" },
    ];
    using opened = open([...offers, { url: server.url }], { clock, platform });
    await connectErrorOf(opened.client.getTask({ id: "t1" }, { timeoutMs: 700 }));
    expect(timeouts).toEqual([700, 400, 100]);
    timeouts.length = 0;
    await connectErrorOf(opened.client.getTask({ id: "t1" }, { timeoutMs: 600 }));
    expect(timeouts).toEqual([600, 300]); // and not 0, which would be no limit at all
    expect(server.received).toEqual([]);
  });

  it("is ended by its caller, and no other interface is asked", async () => {
    await using server = await startRpcServer();
    using opened = open([await closedAddress(), server.url]);
    const error = await connectErrorOf(opened.client.getTask({ id: "t1" }, { signal: AbortSignal.abort() }));
    expect(error.code).toBe(Code.Canceled);
    expect(server.received).toEqual([]);
    expect(opened.warnings).toEqual([]);
  });
});

describe("interfaces that make no sense", () => {
  it("are left out when there are others", async () => {
    await using server = await startRpcServer();
    using opened = open(["javascript:alert(1)", server.url]);
    expect(opened.interfaces.current.interface.url).toBe(server.url);
    await opened.client.sendMessage({});
    expect(server.received).toHaveLength(1);
  });

  it("are refused before anything is called, when there are no others", () => {
    expect(() => open(["javascript:alert(1)", "/rpc"])).toThrow(NoInterfaceError);
    expect(() => open(["javascript:alert(1)", "/rpc"])).toThrow(/javascript:alert\(1\).*\/rpc/);
  });

  it("are called by the guard, when they are not trusted", async () => {
    await using server = await startRpcServer();
    const refused = Object.assign(new Error("the URL is not public"), { code: "ERR_ADDRESS_REFUSED" });
    const platform = { guardedFetch: () => Promise.reject(refused) };
    using opened = open([server.url], { untrusted: true, platform });
    expect((await connectErrorOf(opened.client.getTask({ id: "t1" }))).rawMessage).toMatch(/not public/);
    using local = open([server.url], { untrusted: true, platform, cardUrl: "http://localhost/x.json" });
    await local.client.getTask({ id: "t1" });
    expect(server.received).toHaveLength(1);
  });
});

describe("closing", () => {
  it("ends what goes on, and lets nothing begin", async () => {
    await using server = await startRpcServer();
    const opened = open([server.url]);
    await opened.client.getTask({ id: "t1" });
    opened.interfaces.close();
    expect((await connectErrorOf(opened.client.getTask({ id: "t1" }))).code).toBe(Code.Canceled);
    expect(server.received).toHaveLength(1);
  });
});
