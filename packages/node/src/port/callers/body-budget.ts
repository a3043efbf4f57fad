import { a2aError } from "@a2a-connect/core";
import type { ConnectError } from "@connectrpc/connect";
import type { ListenLimits } from "../listen-options.ts";

/** A request body in the budget. */
export interface BudgetedBody {
  /** Bytes that it holds in memory. */
  readonly held: number;
  /** Whether code waits for the whole body: then `maxBodyBytes` of its wire bounds it. Before, only this budget does. */
  readonly isRead: boolean;
  /** Frees the bytes, and tells the caller why. */
  refuse(reason: ConnectError): void;
}

/** The bytes of a body that always have room before it is read, because they may come with its header. */
const minUnreadBytes = 1024 * 1024;

/** Several bodies: their bytes together, and those of them that can still be refused. */
export class Bodies {
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

type Limits = Pick<ListenLimits, "maxBodyBytesPerConnection" | "maxTotalBodyBytes">;

/**
 * The memory of the request bodies of ports and mounts. Each body counts from its first byte until a message was made of it.
 *
 * Beyond a limit the budget refuses the largest body, not the newest: of a full connection its largest; of all connections
 * together the largest of the caller that holds most. So a caller's unfinished bodies cost other callers nothing, and a
 * large body costs small ones nothing. A body without others is refused only before it is read.
 */
export class BodyBudget {
  /** The bytes of all bodies. */
  held = 0;
  readonly limits: Limits;
  readonly #callers = new Set<Bodies>();

  constructor(limits: Limits) {
    this.limits = limits;
  }

  openCaller(): Bodies {
    const caller = new Bodies();
    this.#callers.add(caller);
    return caller;
  }

  closeCaller(caller: Bodies): void {
    this.#callers.delete(caller);
  }

  /** The bodies of a connection of this caller. */
  open(caller: Bodies): ConnectionBodies {
    return new ConnectionBodies(this, caller);
  }

  /** Refuses bodies until the others are within the limit for all. */
  makeRoom(): void {
    const { maxTotalBodyBytes } = this.limits;
    while (this.held > maxTotalBodyBytes) {
      const greediest = this.#greediest();
      if (greediest === undefined) return;
      greediest.refuseLargest(full("all requests hold", maxTotalBodyBytes));
    }
  }

  /** The caller that holds most; undefined when there is no body to refuse, or only one body. */
  #greediest(): Bodies | undefined {
    let greediest: Bodies | undefined;
    let refusable = 0;
    for (const caller of this.#callers) {
      refusable += caller.refusable.size;
      if (caller.refusable.size > 0 && (greediest === undefined || caller.held > greediest.held)) {
        greediest = caller;
      }
    }
    return refusable > 1 ? greediest : undefined;
  }
}

/** The bodies of one connection. */
export class ConnectionBodies extends Bodies {
  readonly #budget: BodyBudget;
  readonly #caller: Bodies;

  constructor(budget: BodyBudget, caller: Bodies) {
    super();
    this.#budget = budget;
    this.#caller = caller;
  }

  /** The body has this many bytes more. May refuse bodies, this one too. */
  add(body: BudgetedBody, bytes: number): void {
    const { maxBodyBytesPerConnection } = this.#budget.limits;
    this.allowRefusal(body);
    this.#change(bytes);
    if (!body.isRead && body.held > Math.max(maxBodyBytesPerConnection, minUnreadBytes)) {
      body.refuse(full("this connection's requests hold", maxBodyBytesPerConnection));
    }
    while (this.held > maxBodyBytesPerConnection && this.refusable.size > 1) {
      this.refuseLargest(full("this connection's requests hold", maxBodyBytesPerConnection));
    }
    this.#budget.makeRoom();
  }

  /** The body can be refused: it arrives, or waits until a message may be made of it. */
  allowRefusal(body: BudgetedBody): void {
    this.refusable.add(body);
    this.#caller.refusable.add(body);
  }

  /** To refuse the body would free nothing: its bytes were handed over, a message is being made of it, or it has ended. */
  forbidRefusal(body: BudgetedBody): void {
    this.refusable.delete(body);
    this.#caller.refusable.delete(body);
  }

  /** The body's bytes are free again. */
  remove(body: BudgetedBody, bytes: number): void {
    this.forbidRefusal(body);
    this.#change(-bytes);
  }

  #change(bytes: number): void {
    this.held += bytes;
    this.#caller.held += bytes;
    this.#budget.held += bytes;
  }
}

function full(what: string, maxBytes: number): ConnectError {
  return a2aError("CAPACITY", `${what} more than ${maxBytes} bytes of bodies; send it again later`, {
    maxBytes: String(maxBytes),
  });
}
