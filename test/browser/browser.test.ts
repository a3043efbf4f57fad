// A page of another origin, in a real browser, against what `npm start` serves.
import { userMessage } from "@a2a-connect/core";
import { A2AService, TaskState } from "@a2a-connect/proto";
import type { JsonValue } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type AgentProcess, startAgentProcess } from "../interop/agent-process.ts";
import { versionInterceptor } from "../interop/wires.ts";
import { inChromium, launchChromium } from "./launch-chromium.ts";
import type { BrowserWire, SeenError } from "./page/page-api.ts";
import { type ServedPage, servePage } from "./serve-page.ts";

const wires: readonly BrowserWire[] = ["Connect", "gRPC-Web", "HTTP+JSON", "JSON-RPC"];

describe("a page of another origin", inChromium, () => {
  let agent: AgentProcess;
  let served: ServedPage;
  let browser: Browser;
  beforeAll(async () => {
    [agent, served, browser] = await Promise.all([startAgentProcess(), servePage(), launchChromium()]);
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    served.close();
    expect(await agent.stop()).toEqual(new Set());
  });

  describe.each(wires)("over %s", (wire) => {
    let page: Page;
    let seen: SeenEvents;
    const pageErrors: unknown[] = [];
    beforeEach(async () => {
      page = await browser.newPage();
      page.on("pageerror", (error) => pageErrors.push(error));
      seen = createSeenEvents();
      await page.exposeFunction("seen", (event: JsonValue) => seen.add(event));
      await page.goto(served.url);
      await page.evaluate(([name, url]) => globalThis.pageApi.connect(name, url), [wire, agent.url] as const);
    });
    afterEach(async () => {
      await page.close();
      expect(pageErrors).toEqual([]);
    });

    it("calls", async () => {
      expect(new URL(page.url()).origin).not.toBe(agent.url);
      const response = await page.evaluate(() => globalThis.pageApi.send("echo grüße"));
      expect(response).toMatchObject({ message: { role: "ROLE_AGENT", parts: [{ text: "grüße" }] } });
    });

    it("streams", async () => {
      const events = await page.evaluate(() => globalThis.pageApi.stream("stream 5 5"));
      expect(events.map((event) => Object.keys(event ?? {})[0])).toEqual([
        "task",
        ...Array(5).fill("artifactUpdate"),
        "statusUpdate",
      ]);
    });

    it("sees each event of a stream before the next one exists", async () => {
      const node = createNodeClient(agent);
      const { id, follow } = await node.ask();
      const following = seen.until(page.evaluate((task) => globalThis.pageApi.follow(task), id));
      expect(await seen.next()).toMatchObject({
        task: { id, status: { state: "TASK_STATE_INPUT_REQUIRED" } },
      });
      for (let round = 1; round <= 5; round += 1) {
        // The agent asks again, and only once the page has seen that, the next answer makes it go on.
        await follow(`tck-input-required-${round}`, `answer ${round}`);
        expect(await seen.next()).toMatchObject({
          statusUpdate: { status: { state: "TASK_STATE_WORKING" } },
        });
        expect(await seen.next()).toMatchObject({
          statusUpdate: { status: { state: "TASK_STATE_INPUT_REQUIRED" } },
        });
        expect(seen.waiting()).toBe(0);
      }
      await follow("last", "the last answer");
      expect(await following).toBeUndefined();
      expect(await seen.next()).toMatchObject({ statusUpdate: { status: { state: "TASK_STATE_WORKING" } } });
      expect(await seen.next()).toMatchObject({
        artifactUpdate: { artifact: { parts: [{ text: "the last answer" }] } },
      });
      expect(await seen.next()).toMatchObject({
        statusUpdate: { status: { state: "TASK_STATE_COMPLETED" } },
      });
      expect(seen.waiting()).toBe(0);
    });

    it("decodes the details of an error", async () => {
      const error = await page.evaluate(() => globalThis.pageApi.fail("no-such-task"));
      expect(error).toEqual({
        code: "NotFound",
        message: "there is no such task",
        reason: "TASK_NOT_FOUND",
        metadata: { taskId: "no-such-task" },
      } satisfies SeenError);
    });

    it("leaves a stream, and the task goes on", async () => {
      const node = createNodeClient(agent);
      const { id, follow } = await node.ask();
      const following = seen.until(page.evaluate((task) => globalThis.pageApi.follow(task), id));
      expect(await seen.next()).toMatchObject({ task: { id } });
      await page.evaluate(() => globalThis.pageApi.leave());
      expect(await following).toMatchObject({ code: "Canceled" });
      await follow("last", "the answer");
      expect(await node.stateOf(id)).toBe(TaskState.COMPLETED);
      expect(seen.waiting()).toBe(0);
    });
  });
});

/** What the page has seen, in order, for a test that looks at one after the other. */
interface SeenEvents {
  add(event: JsonValue): void;
  /** Says when nothing more will come. Returns what it was given. */
  until<T>(end: Promise<T>): Promise<T>;
  /**
   * The next one, once the page has seen it.
   *
   * @throws Error when nothing more comes
   */
  next(): Promise<JsonValue>;
  /** How many the page has seen that the test has not looked at. */
  waiting(): number;
}

function createSeenEvents(): SeenEvents {
  const events: JsonValue[] = [];
  let ended: { readonly how: unknown } | undefined;
  let wake = () => {};
  return {
    add(event) {
      events.push(event);
      wake();
    },
    until(end) {
      const finish = (how: unknown): void => {
        ended = { how };
        wake();
      };
      end.then(finish, finish);
      return end;
    },
    async next() {
      for (;;) {
        const event = events.shift();
        if (event !== undefined) return event;
        if (ended !== undefined) throw new Error(`the stream has ended: ${JSON.stringify(ended.how)}`);
        const { promise, resolve } = Promise.withResolvers<void>();
        wake = resolve;
        await promise;
      }
    },
    waiting: () => events.length,
  };
}

/** The other party of a task: a client in this process. */
function createNodeClient({ url }: AgentProcess) {
  const transport = createGrpcTransport({ baseUrl: url, interceptors: [versionInterceptor] });
  const client = createClient(A2AService, transport);
  return {
    /** A task that waits for input, and what sends it some. */
    async ask() {
      const { payload } = await client.sendMessage({
        message: userMessage("ask What?", { messageId: "question" }),
      });
      if (payload.case !== "task") throw new Error("the agent answered with a Message");
      const { id } = payload.value;
      const follow = async (messageId: string, text: string): Promise<void> => {
        await client.sendMessage({ message: userMessage(text, { messageId, taskId: id }) });
      };
      return { id, follow };
    },
    async stateOf(id: string): Promise<TaskState | undefined> {
      return (await client.getTask({ id })).status?.state;
    },
  };
}
