import { generateKeyPairSync } from "node:crypto";
import type { ServerName } from "@a2a-connect/conformance";
import { type Principal, principalKey } from "@a2a-connect/core";
import { createGuardedFetch } from "@a2a-connect/node";
import { createReferenceAgent, profileOptions } from "@a2a-connect/reference-agent";
import { type Clock, type PushOptions, systemClock, type TurnAgent } from "@a2a-connect/server";
import type { HarnessOptions } from "@a2a-connect/testing";
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import type { JWK } from "jose";

/** A server to start. */
export interface ServerPlan {
  readonly options: Omit<HarnessOptions, "store">;
}

/** How each server is set up. */
export function planServers(): Readonly<Record<ServerName, ServerPlan>> {
  const full = profileOptions("full");
  const callers = { wires: { interceptors: [readCaller] } };
  const identityCard = ({ id }: Principal) => ({ name: `The card of ${id}` });
  return {
    full: plan("full", full),
    bare: plan("bare", profileOptions("bare")),
    "required-extension": plan("required-extension", profileOptions("required-extension")),
    push: plan("full", { ...full, push: pushHere() }),
    "no-push": plan("full", full),
    identity: plan("full", { ...full, ...callers, extendedCard: { find: identityCard } }),
    "no-card": plan("full", { ...full, extendedCard: { find: () => undefined, open: true } }),
    "lenient-version": plan("full", { ...full, assumeVersion: "1.0" }),
    credentials: plan("full", { ...full, wires: { interceptors: [demandCredentials] } }, bearer),
    signed: plan("full", { ...full, signing: { keys: [{ key: signingKey() }] } }),
    "one-version": plan("full", { ...full, protocolVersions: ["1.0"] }),
    "short-poll": plan("full", { ...full, longPollMs: 20 }),
  };
}

/** The guard's own push, except that nothing leaves this machine: webhooks that are not on it are out of reach. */
function pushHere(): PushOptions {
  const { fetch, refuseUrl } = createGuardedFetch({ allow: ["127.0.0.1"] });
  return {
    refuseUrl,
    retry: { initialMs: 20 },
    fetch: async (url, init) => {
      if (new URL(url).hostname !== "127.0.0.1") {
        throw new Error("out of reach");
      }
      return fetch(url, init);
    },
  };
}

function signingKey(): JWK {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return privateKey.export({ format: "jwk" }) as JWK; // the same, with looser types
}

/** A skill with media types of its own. */
const pictures = {
  id: "pictures",
  name: "Pictures",
  description: "Takes pictures, and nothing else.",
  inputModes: ["image/svg+xml"],
};

function plan(
  profile: "full" | "bare" | "required-extension",
  options: Omit<HarnessOptions, "agent" | "store">,
  more: Partial<TurnAgent["card"]> = {},
): ServerPlan {
  const reference = createReferenceAgent(profile);
  const { card } = reference;
  const agent: TurnAgent = {
    ...reference,
    card: { ...card, ...more, skills: [...(card.skills ?? []), ...(profile === "bare" ? [pictures] : [])] },
    taskAfterMs: 50,
    cancelGraceMs: 50,
  };
  return { options: { clock: strictClock(), ...options, agent } };
}

/** The machine's clock, except that no two moments are the same: the order of a list is then the order of its making. */
function strictClock(): Clock {
  let last = 0;
  return {
    ...systemClock,
    now: () => {
      last = Math.max(Date.now(), last + 1);
      return last;
    },
  };
}

/** What a card says when every call needs a token. */
const bearer: Partial<TurnAgent["card"]> = {
  securitySchemes: {
    token: { scheme: { case: "httpAuthSecurityScheme", value: { scheme: "Bearer" } } },
  },
  securityRequirements: [{ schemes: { token: { list: [] } } }],
};

/** The one token that the server "credentials" knows. */
export const knownToken = "known";

/** Stands in for authentication, too. */
const demandCredentials: Interceptor = (next) => (request) => {
  if (request.header.get("authorization") === `Bearer ${knownToken}`) return next(request);
  throw new ConnectError("sign in first", Code.Unauthenticated, { "www-authenticate": "Bearer" });
};

/** Stands in for authentication, which is a later issue: a caller who says who it is, is believed. */
const readCaller: Interceptor = (next) => (request) => {
  const id = request.header.get("x-test-caller");
  if (id !== null) {
    request.contextValues.set(principalKey, { id, anonymous: false });
  }
  return next(request);
};
