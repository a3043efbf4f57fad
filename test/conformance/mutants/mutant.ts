import type { Place, ServerName } from "@a2a-connect/conformance";
import type { Interceptor } from "@connectrpc/connect";
import type { PassingGrpcAnswer } from "../altering-grpc-proxy.ts";
import type { ProxyOptions } from "../altering-proxy.ts";

/** One thing that a server does wrong. Without any of these members it does nothing wrong. */
export interface Fault extends Pick<ProxyOptions, "ask" | "alter"> {
  /** Changes calls behind all wires. */
  readonly calls?: Interceptor;
  /** Changes what came over gRPC, in a proxy. */
  readonly alterGrpc?: (answer: PassingGrpcAnswer) => void;
  /** Changes what webhooks are told; undefined keeps it from them. */
  readonly post?: (init: RequestInit) => RequestInit | undefined;
}

/** A server with one fault, and what has to be said of it. */
export interface Mutant extends Fault {
  /** What the server does wrong. */
  readonly name: string;
  /** The requirements that it breaks: only what cites one of them is tried. */
  readonly ids: string;
  readonly place: Place;
  /** What the title or the sentence of a failure has to say. */
  readonly says: RegExp;
  /** How the server is set up. Default `push`. */
  readonly server?: ServerName;
  /** Set where no other agent shows it, or where the specification is silent, so that only our own is held to it. */
  readonly agent?: "reference";
  /** How many scenarios may fail at most, where it is more than usual. */
  readonly most?: number;
  /** As for a run, where the server does not answer. */
  readonly scenarioTimeoutMs?: number;
  /** Set where the fault is in the way that the server is set up, so that there is no such server without it. */
  readonly isInSetup?: true;
}

/** Whether a mutant's fault is in a proxy. Cards always pass one, so that they name what it passes on. */
export function isBehindProxy({ place, ask, alter, alterGrpc }: Mutant): boolean {
  return place === "card" || [ask, alter, alterGrpc].some((each) => each !== undefined);
}
