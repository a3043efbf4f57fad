import { EventEmitter } from "node:events";
import { Socket } from "node:net";
import { expect, it } from "vitest";
import { defaultLimits } from "../listen-options.ts";
import { Callers, maxReadByParser } from "./callers.ts";

const alice = "203.0.113.1";
const bob = "203.0.113.2";
const proxy = "192.0.2.1";

it("knows a caller behind a proxy over all connections while one of its calls is open", () => {
  const callers = new Callers(defaultLimits);
  const first = callers.connectionOf(new EventEmitter(), () => proxy);
  const second = callers.connectionOf(new EventEmitter(), () => proxy);
  const call = first.beginPassedOn(alice);
  expect(first.beginPassedOn(alice)).toBe(call);
  expect(first.beginPassedOn(bob).caller).not.toBe(call.caller);
  const elsewhere = second.beginPassedOn(alice);
  expect(elsewhere.caller).toBe(call.caller);
  expect([call.network, elsewhere.network, first.network]).toEqual([alice, alice, proxy]);

  first.endPassedOn(call);
  expect(first.beginPassedOn(alice)).toBe(call);
  first.endPassedOn(call);
  first.endPassedOn(call);
  expect(first.beginPassedOn(alice)).not.toBe(call);
  expect(first.beginPassedOn(alice).caller).toBe(elsewhere.caller);
});

it("knows a trusted proxy also where several of its connections have not said yet what they are", () => {
  const callers = new Callers(defaultLimits);
  const sockets = [new Socket(), new Socket()];
  const [first, second] = sockets.map((socket) => ({
    socket,
    own: callers.connectionOf(socket, () => proxy),
  }));
  if (first === undefined || second === undefined) throw new Error("there are two");
  for (const { socket, own } of [first, second]) own.joinUndecided(socket, true);
  for (const { socket, own } of [first, second]) {
    own.leave(socket);
    own.join(
      socket,
      true,
      () => undefined,
      () => undefined,
    );
  }
  for (let request = 0; request < 200; request += 1) first.own.countRequest(); // one caller may bring 128 in a turn
  expect(first.own.waitIfStopped(() => undefined)).toBe(false);
});

it("ends a connection that cannot begin, and tells of it", () => {
  const socket = new Socket();
  const fault = new Error("xyzzy");
  const faults: unknown[] = [];
  const begin = () => {
    throw fault;
  };
  new Callers(defaultLimits)
    .ofSocket(socket)
    .join(socket, false, begin, (thrown) => faults.push(thrown, socket.destroyed));
  expect([socket.destroyed, faults]).toEqual([true, [fault, false]]);
});

it("forgets a caller behind a proxy with its last call", () => {
  const connection = new Callers(defaultLimits).connectionOf(new EventEmitter(), () => proxy);
  const call = connection.beginPassedOn(alice);
  connection.endPassedOn(call);
  expect(connection.beginPassedOn(alice).caller).not.toBe(call.caller);
});

it("lets the parser of HTTP/2 read the first few connections of each caller that are open at a time", () => {
  const callers = new Callers(defaultLimits);
  const open = (address: string) => {
    const socket = new Socket();
    const mayReadItself = callers.connectionOf(socket, () => address).mayReadItself(socket);
    return { mayReadItself, close: () => socket.emit("close") };
  };
  const first = Array.from({ length: maxReadByParser }, () => open(alice));
  expect(first.map(({ mayReadItself }) => mayReadItself)).toEqual(first.map(() => true));
  const further = open(alice);
  expect([further.mayReadItself, open(bob).mayReadItself]).toEqual([false, true]);
  further.close();
  expect(open(alice).mayReadItself).toBe(false);
  first[0]?.close();
  expect([open(alice).mayReadItself, open(alice).mayReadItself]).toEqual([true, false]);
});
