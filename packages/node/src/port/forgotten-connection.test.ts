import type { Socket } from "node:net";
import { PassThrough } from "node:stream";
import { describe, expect, it, onTestFinished } from "vitest";
import { fakeIntervals } from "../../test-support/intervals.ts";
import { cutWhenForgotten } from "./forgotten-connection.ts";

const lookMs = 5 * 60_000;

describe("a connection that is not read", () => {
  function open(isHeld?: () => boolean) {
    const clock = fakeIntervals();
    onTestFinished(() => clock[Symbol.dispose]());
    const socket = Object.assign(new PassThrough(), { bytesRead: 0, bytesWritten: 0 });
    cutWhenForgotten(socket as unknown as Socket, isHeld);
    socket.pause();
    return { clock, socket };
  }

  it("is cut after a while", () => {
    const { clock, socket } = open();
    clock.pass(lookMs - 1);
    expect(socket.destroyed).toBe(false);
    clock.pass(1);
    expect(socket.destroyed).toBe(true);
  });

  it("stays while something is written to it, and no longer", () => {
    const { clock, socket } = open();
    for (let count = 0; count < 5; count += 1) {
      socket.bytesWritten += 1;
      clock.pass(lookMs);
      expect(socket.destroyed).toBe(false);
    }
    clock.pass(lookMs);
    expect(socket.destroyed).toBe(true);
  });

  it("stays when it is read again, and when no requests wait", () => {
    const read = open();
    read.socket.resume();
    read.clock.pass(2 * lookMs);
    expect(read.socket.destroyed).toBe(false);
    const notHeld = open(() => false);
    notHeld.clock.pass(2 * lookMs);
    expect(notHeld.socket.destroyed).toBe(false);
  });
});
