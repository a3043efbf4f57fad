import { untilAborted } from "@a2a-connect/core/internal";
import type { SecurityRequirementSchema } from "@a2a-connect/proto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { unauthenticated } from "./challenge.ts";
import {
  type AuthGate,
  type Caller,
  type Challenge,
  type Credentials,
  isRefusal,
  type Verdict,
} from "./gate.ts";
import { defaultScopes } from "./policy.ts";

/** Which credentials callers need. */
export interface Gates {
  /** The gates by the names of their schemes in the card. */
  readonly gates: Readonly<Record<string, AuthGate>>;
  /**
   * Which gates a call must pass: those of one entry, all of them (requirement L-9). With several, the first names the
   * principal. Default: any one gate.
   */
  readonly requirements?: readonly (readonly string[])[];
}

/** Finds out who calls. */
export class Authenticator {
  readonly #names: readonly string[];
  readonly #gates: readonly AuthGate[];
  readonly #requirements: readonly (readonly number[])[];

  /** @throws Error when there is no gate, or a requirement names one that does not exist */
  constructor({ gates, requirements }: Gates) {
    this.#names = Object.keys(gates);
    this.#gates = Object.values(gates);
    if (this.#gates.length === 0) {
      throw new Error("auth.gates has no gate: name at least one, such as { token: bearerJwt({ … }) }");
    }
    this.#requirements = (requirements ?? this.#names.map((name) => [name])).map((names) =>
      this.#indexes(names),
    );
    if (this.#requirements.length === 0) {
      throw new Error("auth.requirements has no entry, so no call could ever pass");
    }
  }

  #indexes(names: readonly string[]): readonly number[] {
    if (names.length === 0) {
      throw new Error("an entry of auth.requirements is empty: every caller would pass it");
    }
    return names.map((name) => {
      const index = this.#names.indexOf(name);
      if (index === -1) {
        throw new Error(`auth.requirements names the gate ${JSON.stringify(name)}, and there is none`);
      }
      return index;
    });
  }

  get gates(): readonly AuthGate[] {
    return this.#gates;
  }

  /**
   * The caller; at once when every gate knows at once. @throws ConnectError Unauthenticated; the reason of the call's signal, when it
   * aborts while a gate waits, perhaps for a server that is slow
   */
  authenticate(credentials: Credentials): Caller | Promise<Caller> {
    const verdicts = this.#gates.map((gate) => verify(gate, credentials));
    return verdicts.some((verdict) => verdict instanceof Promise)
      ? untilAborted(Promise.all(verdicts), credentials.signal).then((all) => this.#decide(all, credentials))
      : this.#decide(verdicts as Verdict[], credentials); // none is a promise
  }

  /** The card's `securityRequirements`. @param scopes those that every call may need */
  describe(scopes: readonly string[]): MessageInitShape<typeof SecurityRequirementSchema>[] {
    return this.#requirements.map((indexes) => ({
      schemes: Object.fromEntries(
        indexes.map((index) => [
          this.#names[index],
          { list: this.#gates[index]?.hasScopes === true ? [...scopes] : [] },
        ]),
      ),
    }));
  }

  #decide(verdicts: readonly Verdict[], credentials: Credentials): Caller {
    for (const indexes of this.#requirements) {
      const callers = indexes.map((index) => verdicts[index]).filter(isCaller);
      const [first] = callers;
      if (first !== undefined && callers.length === indexes.length) {
        if (callers.length === 1) return first;
        const caller = combine(first, callers);
        if (caller !== undefined) return caller;
      }
    }
    throw this.#refuse(verdicts, credentials);
  }

  #refuse(verdicts: readonly Verdict[], { metadataUrl }: Credentials): Error {
    const reasons = verdicts.flatMap((verdict) => (isRefusal(verdict) ? [verdict.refused] : []));
    const challenges = this.#gates.map(({ challenge }, index) => {
      const verdict = verdicts[index];
      return challenge.scheme === "Bearer" ? withParams(challenge, verdict, metadataUrl) : challenge;
    });
    return unauthenticated(reasons[0] ?? "the call needs credentials", challenges);
  }
}

/** A gate that throws at once must not leave the promises of others behind, which may reject later. */
function verify(gate: AuthGate, credentials: Credentials): Verdict | Promise<Verdict> {
  try {
    return gate.verify(credentials);
  } catch (error) {
    return Promise.reject(error);
  }
}

/** What a client needs to get a token, and why its last one does not count (RFC 6750 §3, RFC 9728 §5.1). */
function withParams(challenge: Challenge, verdict: Verdict, metadataUrl: string | undefined): Challenge {
  return {
    ...challenge,
    params: {
      ...challenge.params,
      ...(metadataUrl === undefined ? {} : { resource_metadata: metadataUrl }),
      ...(isRefusal(verdict) ? { error: "invalid_token", error_description: verdict.refused } : {}),
    },
  };
}

function isCaller(verdict: Verdict): verdict is Caller {
  return verdict !== undefined && !isRefusal(verdict);
}

/** One caller with several credentials; undefined when they are for different tenants or tasks. */
function combine(first: Caller, callers: readonly Caller[]): Caller | undefined {
  const tenants = new Set(callers.flatMap(({ tenant }) => tenant ?? []));
  const tasks = new Set(callers.flatMap(({ taskId }) => taskId ?? []));
  if (tenants.size > 1 || tasks.size > 1) return undefined;
  const expiries = callers.flatMap(({ expiresAt }) => expiresAt ?? []);
  const [[tenant], [taskId]] = [[...tenants], [...tasks]];
  return {
    ...first,
    tenant,
    taskId,
    scopes: commonScopes(callers),
    claims: Object.assign({}, ...callers.toReversed().map(({ claims }) => claims)),
    expiresAt: expiries.length === 0 ? undefined : Math.min(...expiries),
  };
}

/**
 * What all of a caller's credentials allow: a second one must not widen a token that is limited. Those that name no scopes
 * themselves limit nothing.
 */
function commonScopes(callers: readonly Caller[]): readonly string[] {
  const [first = defaultScopes, ...others] = callers
    .map(({ scopes }) => scopes)
    .filter((scopes) => scopes !== defaultScopes);
  return first.filter((scope) => others.every((scopes) => scopes.includes(scope)));
}
