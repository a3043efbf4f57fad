import { A2AService } from "@a2a-connect/proto";
import {
  type Client,
  createClient,
  createContextValues,
  createRouterTransport,
  type ServiceImpl,
  type Transport,
} from "@connectrpc/connect";
import { beforeEach, describe, expect, it } from "vitest";
import { agentCard, agentInterface } from "../../test-support/cards.ts";
import { AgentTransport, abortsAtEndKey } from "./agent-transport.ts";
import type { UsedCard } from "./used-card.ts";

interface TestCard extends UsedCard {
  isClosed: boolean;
}

/** A card whose agent answers with its name, when it may. */
function createCard(
  name: string,
  service: Partial<ServiceImpl<typeof A2AService>> = {},
  edit: (transport: Transport) => Transport = (transport) => transport,
): TestCard {
  const transport = createRouterTransport(({ service: route }) => {
    route(A2AService, {
      getTask: () => ({ id: name }),
      async *subscribeToTask() {
        for (const id of ["1", "2"]) yield { payload: { case: "task", value: { id } } };
      },
      ...service,
    });
  });
  const card: TestCard = {
    isClosed: false,
    resolved: { card: agentCard(), warnings: [], url: undefined, asked: undefined, text: name },
    candidates: [
      {
        interface: agentInterface(),
        protocolVersion: "1.0",
        binding: {
          binding: "JSONRPC",
          open: () => ({
            transport: edit(transport),
            close: () => {
              card.isClosed = true;
            },
          }),
        },
      },
    ],
    settings: {},
    honoursKeys: false,
  };
  return card;
}

describe("calls with a card that is replaced", () => {
  let first: TestCard;
  let second: TestCard;
  let calls: AgentTransport;
  let rpc: Client<typeof A2AService>;
  let release: (error?: Error) => void;
  beforeEach(() => {
    const released = Promise.withResolvers<void>();
    release = (error) => (error === undefined ? released.resolve() : released.reject(error));
    first = createCard("first", {
      getTask: async () => {
        await released.promise;
        return { id: "first" };
      },
    });
    second = createCard("second");
    calls = new AgentTransport(first);
    rpc = createClient(A2AService, calls);
  });

  it("close it at once when there are none", async () => {
    calls.use(second);
    expect([first.isClosed, second.isClosed]).toEqual([true, false]);
    expect(calls.card).toBe(second);
    expect((await rpc.getTask({})).id).toBe("second");
    expect(second.isClosed).toBe(false);
  });

  for (const [how, error] of [
    ["well", undefined],
    ["badly", new Error("no")],
  ] as const) {
    it(`close it when the last of them ends ${how}`, async () => {
      const both = Promise.allSettled([rpc.getTask({}), rpc.getTask({})]);
      calls.use(second);
      expect((await rpc.getTask({})).id).toBe("second");
      expect(first.isClosed).toBe(false);
      release(error);
      await both;
      expect([first.isClosed, second.isClosed]).toEqual([true, false]);
    });
  }

  for (const [what, contextValues] of [
    ["a stream", createContextValues()],
    ["an event stream of ours", createContextValues().set(abortsAtEndKey, true)],
  ] as const) {
    it(`close it when ${what} is aborted, however often`, async () => {
      const { signal, abort } = createAbort();
      const stream = rpc.subscribeToTask({}, { signal, contextValues })[Symbol.asyncIterator]();
      await stream.next();
      calls.use(second);
      expect(first.isClosed).toBe(false);
      abort();
      expect(first.isClosed).toBe(true);
      await stream.next().catch(() => {});
      expect(second.isClosed).toBe(false);
    });

    it(`close it when ${what} cannot be opened`, async () => {
      first = createCard("first", {}, (transport) => ({
        ...transport,
        stream: () => Promise.reject(new Error("no")),
      }));
      const over = new AgentTransport(first);
      const stream = createClient(A2AService, over).subscribeToTask({}, { contextValues });
      const next = stream[Symbol.asyncIterator]().next();
      over.use(second);
      expect(first.isClosed).toBe(false);
      await expect(next).rejects.toThrow("no");
      expect(first.isClosed).toBe(true);
    });
  }

  it("close it when a stream without a signal is over", async () => {
    const stream = rpc.subscribeToTask({})[Symbol.asyncIterator]();
    await stream.next();
    calls.use(second);
    await stream.next();
    expect(first.isClosed).toBe(false);
    expect((await stream.next()).done).toBe(true);
    expect(first.isClosed).toBe(true);
  });

  it("fail with it when all are closed, and one that comes later is closed, too", async () => {
    const pending = rpc.getTask({});
    calls.use(second);
    calls.close();
    expect([first.isClosed, second.isClosed]).toEqual([true, true]);
    const third = createCard("third");
    calls.use(third);
    expect(third.isClosed).toBe(true);
    release();
    await pending;
  });
});

function createAbort() {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}
