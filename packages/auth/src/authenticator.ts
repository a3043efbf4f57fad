import { untilAborted } from "@a2a-connect/core/internal";
import type { SecurityRequirementSchema } from "@a2a-connect/proto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { unauthenticated } from "./challenge.ts";
import type { AuthGate, Caller, Challenge, Credentials, Verdict } from "./gate.ts";
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
   * The caller; at once when the gates that decide know at once. @throws ConnectError Unauthenticated; what a gate throws that cannot
   * find out now; the reason of the call's signal, when it aborts while a gate waits, perhaps for a server that is slow
   */
  authenticate(credentials: Credentials): Caller | Promise<Caller> {
    return this.#decide(settleInPlace(this.#gates.map((gate) => verify(gate, credentials))), credentials);
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

  /**
   * The first entry that is met names the caller. One that cannot be checked now is not passed over for a later one, because the same
   * credentials would then name another caller for a while, who has other tasks; later ones are not waited for.
   */
  #decide(findings: readonly Finding[], credentials: Credentials): Caller | Promise<Caller> {
    for (const indexes of this.#requirements) {
      const needed = indexes.map((index) => findings[index]);
      if (needed.some(isNoCaller)) continue;
      const pending = needed.filter(isPending);
      if (pending.length > 0) return this.#decideAfter(Promise.race(pending), findings, credentials);
      const failure = needed.find(isFailure);
      if (failure !== undefined) throw failure.failed;
      const callers = needed.filter(isCaller);
      const [first] = callers;
      const caller = first === undefined || callers.length === 1 ? first : combine(first, callers);
      if (caller === undefined) continue;
      if (isWritable(caller.principal) && isWritable(caller.tenant ?? "")) return caller;
      throw this.#refuse(
        [{ refused: "the credentials name no caller: the name that they have is no valid Unicode" }],
        credentials,
      );
    }
    const pending = findings.filter(isPending); // they may know a reason
    if (pending.length > 0) return this.#decideAfter(Promise.all(pending), findings, credentials);
    throw this.#refuse(findings, credentials);
  }

  async #decideAfter(
    settled: Promise<unknown>,
    findings: readonly Finding[],
    credentials: Credentials,
  ): Promise<Caller> {
    await untilAborted(settled, credentials.signal);
    return this.#decide(findings, credentials);
  }

  #refuse(findings: readonly Finding[], { metadataUrl }: Credentials): Error {
    const reasons = findings.map(reasonOf);
    const challenges = this.#gates.map(({ challenge }, index) =>
      challenge.scheme === "Bearer" ? withParams(challenge, reasons[index], metadataUrl) : challenge,
    );
    return unauthenticated(
      reasons.find((reason) => reason !== undefined) ?? "the call needs credentials",
      challenges,
    );
  }
}

/** Why a gate cannot find out now. */
interface Failure {
  readonly failed: unknown;
}

/** What a gate has found, as far as it has. */
type Finding = Verdict | Failure | Promise<unknown>;

function verify(gate: AuthGate, credentials: Credentials): Finding {
  try {
    return gate.verify(credentials);
  } catch (failed) {
    return { failed };
  }
}

/**
 * Puts what a promise becomes in its place. Nothing of the credentials is within its reach: a gate may have one promise for all
 * calls, which would keep them.
 */
function settleInPlace(findings: Finding[]): readonly Finding[] {
  for (const [index, finding] of findings.entries()) {
    if (isPending(finding)) {
      findings[index] = finding.then(
        (verdict) => {
          findings[index] = verdict as Verdict;
        },
        (failed: unknown) => {
          findings[index] = { failed };
        },
      );
    }
  }
  return findings;
}

/** What a client needs to get a token, and why its last one does not count (RFC 6750 §3, RFC 9728 §5.1). */
function withParams(
  challenge: Challenge,
  reason: string | undefined,
  metadataUrl: string | undefined,
): Challenge {
  return {
    ...challenge,
    params: {
      ...challenge.params,
      ...(metadataUrl === undefined ? {} : { resource_metadata: metadataUrl }),
      ...(reason === undefined ? {} : { error: "invalid_token", error_description: reason }),
    },
  };
}

function isPending(finding: Finding): finding is Promise<unknown> {
  return finding instanceof Promise;
}

function isFailure(finding: Finding): finding is Failure {
  return finding !== undefined && "failed" in finding;
}

function reasonOf(finding: Finding): string | undefined {
  return finding !== undefined && "refused" in finding ? finding.refused : undefined;
}

/** Whether a gate has said that an entry with it is not met. */
function isNoCaller(finding: Finding): boolean {
  return finding === undefined || reasonOf(finding) !== undefined;
}

function isCaller(finding: Finding): finding is Caller {
  return finding !== undefined && "principal" in finding;
}

/** Stores and protobuf write half of a surrogate pair as U+FFFD: the caller would have the tasks of another one. */
function isWritable(name: string): boolean {
  return name.isWellFormed();
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
