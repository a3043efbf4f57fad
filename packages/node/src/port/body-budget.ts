import type { EventEmitter } from "node:events";
import { a2aError } from "@a2a-connect/core";
import type { ConnectError } from "@connectrpc/connect";
import { toNetwork } from "../network/caller-network.ts";
import type { ListenLimits } from "./listen-options.ts";

/** A request body in the budget. */
export interface BudgetedBody {
  /** Bytes that it holds in memory. */
  readonly held: number;
  /** Frees the bytes, and tells the caller why. */
  refuse(reason: ConnectError): void;
}

/** The bytes of several bodies together, and those bodies that can still be refused. */
class Share {
  held = 0;
  readonly refusable: Set<BudgetedBody> = new Set();

  refuseLargest(reason: ConnectError): void {
    let largest: BudgetedBody | undefined;
    for (const body of this.refusable) {
      if (largest === undefined || body.held >= largest.held) largest = body;
    }
    largest?.refuse(reason);
  }
}

/** The bodies of one caller, over all its connections. */
class CallerShare extends Share {
  readonly address: string;
  connections = 0;

  constructor(address: string) {
    super();
    this.address = address;
  }
}

/** A connection and its caller, and the bytes of its bodies. Limits that are shared out by caller or connection go by it, too. */
export class ConnectionAccount extends Share {
  /** The caller's address. Several connections may have the same. */
  readonly caller: CallerShare;

  constructor(caller: CallerShare) {
    super();
    this.caller = caller;
  }
}

/**
 * The memory of the request bodies of one port. Each body counts from its first byte until a message was made of it.
 *
 * Beyond a limit the budget refuses the largest body, not the newest: of a full connection its largest; of a full port
 * the largest of the caller that holds most. So a caller's unfinished bodies cost other callers nothing, and a large
 * body costs small ones nothing. A body without others is never refused.
 */
export class BodyBudget {
  readonly #limits: Pick<ListenLimits, "maxBodyBytesPerConnection" | "maxTotalBodyBytes">;
  readonly #accounts = new WeakMap<EventEmitter, ConnectionAccount>();
  readonly #callers = new Map<string, CallerShare>();
  #held = 0;

  constructor(limits: Pick<ListenLimits, "maxBodyBytesPerConnection" | "maxTotalBodyBytes">) {
    this.#limits = limits;
  }

  /** Bytes of all bodies. */
  get held(): number {
    return this.#held;
  }

  /** @param remoteAddress asked once for each connection */
  accountOf(connection: EventEmitter, remoteAddress: () => string | undefined): ConnectionAccount {
    let account = this.#accounts.get(connection);
    if (account === undefined) {
      account = new ConnectionAccount(this.#join(connection, toNetwork(remoteAddress()) ?? ""));
      this.#accounts.set(connection, account);
    }
    return account;
  }

  /** The body has this many bytes more. May refuse bodies, this one too. */
  add(account: ConnectionAccount, body: BudgetedBody, bytes: number): void {
    const { maxBodyBytesPerConnection, maxTotalBodyBytes } = this.#limits;
    this.offer(account, body);
    this.#change(account, bytes);
    while (account.held > maxBodyBytesPerConnection && account.refusable.size > 1) {
      account.refuseLargest(full("this connection's requests hold", maxBodyBytesPerConnection));
    }
    while (this.#held > maxTotalBodyBytes) {
      const greediest = this.#greediest();
      if (greediest === undefined) return;
      greediest.refuseLargest(full("all requests hold", maxTotalBodyBytes));
    }
  }

  /** The body can be refused (again). */
  offer(account: ConnectionAccount, body: BudgetedBody): void {
    account.refusable.add(body);
    account.caller.refusable.add(body);
  }

  /** A message is being made of the body: it keeps its bytes, and cannot be refused any more. */
  keep(account: ConnectionAccount, body: BudgetedBody): void {
    account.refusable.delete(body);
    account.caller.refusable.delete(body);
  }

  /** The body's bytes are free again. */
  remove(account: ConnectionAccount, body: BudgetedBody, bytes: number): void {
    this.keep(account, body);
    this.#change(account, -bytes);
  }

  #change(account: ConnectionAccount, bytes: number): void {
    account.held += bytes;
    account.caller.held += bytes;
    this.#held += bytes;
  }

  #join(connection: EventEmitter, address: string): CallerShare {
    let caller = this.#callers.get(address);
    if (caller === undefined) {
      caller = new CallerShare(address);
      this.#callers.set(address, caller);
    }
    caller.connections += 1;
    connection.once("close", () => {
      caller.connections -= 1;
      if (caller.connections === 0) this.#callers.delete(address);
    });
    return caller;
  }

  /** The caller that holds most; undefined when there is no body to refuse, or only one body. */
  #greediest(): Share | undefined {
    let greediest: Share | undefined;
    let refusable = 0;
    for (const share of this.#callers.values()) {
      refusable += share.refusable.size;
      if (share.refusable.size > 0 && (greediest === undefined || share.held > greediest.held)) {
        greediest = share;
      }
    }
    return refusable > 1 ? greediest : undefined;
  }
}

function full(what: string, maxBytes: number): ConnectError {
  return a2aError("CAPACITY", `${what} more than ${maxBytes} bytes of bodies; send it again later`, {
    maxBytes: String(maxBytes),
  });
}
