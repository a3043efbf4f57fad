import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { JsonObject } from "@bufbuild/protobuf";
import { type Agent, type Caller, CallRefused, type Order, type SeenError } from "./caller.ts";
import { type Command, root } from "./languages.ts";

/** A peer in a process of its own. It calls agents, and it is one. */
export interface PeerProcess extends Caller, AsyncDisposable {
  /** Where it is reached. A peer of stubs has no URL. */
  readonly agent: Agent;
}

/** What a peer prints: see `python/lines.py`. */
interface Line {
  readonly ready?: { readonly url?: string; readonly GRPC: string };
  readonly id?: number;
  readonly answer?: JsonObject;
  readonly end?: true;
  readonly error?: SeenError;
}

/**
 * Starts a peer, with one argument.
 *
 * @throws Error with what it printed, when it ends before it is ready
 */
export async function startPeer(
  { line: [command, ...args], env }: Command,
  argument: string,
): Promise<PeerProcess> {
  const child = spawn(command, [...args, argument], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  const exited = once(child, "close");
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
  });
  child.stdin.on("error", () => {}); // it has ended, which is told below
  const calls = new Map<number, (line: Line) => void>();
  const ready = Promise.withResolvers<Required<Line>["ready"]>();
  createInterface(child.stdout).on("line", (text) => {
    const line = JSON.parse(text) as Line; // as the peers print it
    if (line.ready !== undefined) ready.resolve(line.ready);
    if (line.id !== undefined) calls.get(line.id)?.(line);
  });
  let ended: Error | undefined;
  exited.then(() => {
    ended = new Error(`the peer has ended: ${errors}`);
    ready.reject(ended);
    for (const [id, tell] of calls) tell({ id, error: { message: ended.message } });
  }, ready.reject);
  const { url, GRPC: authority } = await ready.promise;
  let last = 0;

  async function* call(agent: Agent, order: Order): AsyncGenerator<JsonObject> {
    if (ended !== undefined) throw ended;
    const id = ++last;
    const address = url === undefined ? agent.authority : agent.url;
    const lines: Line[] = [];
    let wake = (): void => {};
    calls.set(id, (line) => {
      lines.push(line);
      wake();
    });
    child.stdin.write(`${JSON.stringify({ id, agent: address, ...order })}\n`);
    try {
      for (;;) {
        const line = lines.shift();
        if (line === undefined) {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        } else if (line.answer !== undefined) {
          yield line.answer;
        } else if (line.error !== undefined) {
          throw new CallRefused(line.error);
        } else {
          return;
        }
      }
    } finally {
      calls.delete(id);
      child.stdin.write(`${JSON.stringify({ id, leave: true })}\n`);
    }
  }

  return {
    agent: { url: url ?? "", authority },
    call,
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      const [code] = await exited;
      if (code !== 0) throw new Error(`the peer ended with ${code}: ${errors}`);
    },
  };
}
