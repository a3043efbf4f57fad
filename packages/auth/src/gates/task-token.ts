import { decodeProtectedHeader, errors, jwtVerify, SignJWT } from "jose";
import type { AuthGate, Verdict } from "../gate.ts";
import { defaultScopes } from "../policy.ts";
import { readBearerToken } from "./bearer-token.ts";

/** How task tokens are made and verified. */
export interface TaskTokenOptions {
  /** This server, as `iss` and default `aud` of its tokens, such as `https://agents.example.org`. */
  readonly issuer: string;
  /** Signs the tokens: at least 32 random bytes, the same after a restart. With several, the first signs, and all verify. */
  readonly secret: Uint8Array | readonly Uint8Array[];
  /** For whom tokens must be to count here. Default the issuer. */
  readonly audience?: string;
  /** The time, milliseconds since 1970. Default the machine's. */
  readonly now?: () => number;
}

/** The task that a token is for: `turn` and `task` of an executor are one. */
export interface TokenTask {
  readonly taskId: string;
  readonly caller: { readonly principal: string; readonly tenant: string };
}

/** Tokens that allow one thing: to get, subscribe to, answer and cancel one task, on behalf of its owner. */
export interface TaskTokens {
  /** Lets calls with such tokens pass: one of the gates of the server. */
  readonly gate: AuthGate;
  /** Makes a token. @param options `ttlSeconds`: how long it counts, default 300 */
  mint(
    task: TokenTask,
    options?: { readonly audience?: string; readonly ttlSeconds?: number },
  ): Promise<string>;
}

/** Other gates take no token of this type, and this gate no other. */
const type = "a2a-task+jwt";
const minSecretBytes = 32;

/**
 * Task tokens, for agents and services that work on one task of a caller. A token shows its holder the principal of the task's owner.
 *
 * @throws Error when a secret is too short
 */
export function createTaskTokens(options: TaskTokenOptions): TaskTokens {
  const { issuer, audience: ownAudience = issuer, now = Date.now } = options;
  const secrets = options.secret instanceof Uint8Array ? [options.secret] : options.secret;
  const [signing] = secrets;
  if (signing === undefined || secrets.some(({ length }) => length < minSecretBytes)) {
    throw new Error(`the secret of task tokens has at least ${minSecretBytes} random bytes`);
  }

  async function check(token: string): Promise<Verdict> {
    const rules = {
      issuer,
      audience: ownAudience,
      typ: type,
      algorithms: ["HS256"],
      currentDate: new Date(now()),
    };
    for (const secret of secrets) {
      try {
        const { payload } = await jwtVerify(token, secret, rules);
        const { sub = "", tenant, task, exp = 0 } = payload;
        if (sub === "" || typeof task !== "string" || typeof tenant !== "string") break;
        return {
          principal: sub,
          tenant,
          scopes: defaultScopes,
          claims: {},
          taskId: task,
          expiresAt: exp * 1_000,
        };
      } catch (error) {
        if (error instanceof errors.JWTExpired) return { refused: "the task token has expired" };
        if (error instanceof errors.JWSSignatureVerificationFailed) continue; // an older secret may have signed it
        break;
      }
    }
    return { refused: "the task token does not hold" };
  }

  return {
    gate: {
      scheme: {
        scheme: {
          case: "httpAuthSecurityScheme",
          value: {
            scheme: "Bearer",
            bearerFormat: "JWT",
            description: "A token for one task, from its owner.",
          },
        },
      },
      challenge: { scheme: "Bearer" },
      hasScopes: false,
      verify(credentials) {
        const token = readBearerToken(credentials);
        return typeof token === "string" && isTaskToken(token) ? check(token) : undefined;
      },
    },
    mint({ taskId, caller }, { audience = ownAudience, ttlSeconds = 300 } = {}) {
      const seconds = Math.floor(now() / 1_000);
      return new SignJWT({ task: taskId, tenant: caller.tenant })
        .setProtectedHeader({ alg: "HS256", typ: type })
        .setIssuer(issuer)
        .setAudience(audience)
        .setSubject(caller.principal)
        .setIssuedAt(seconds)
        .setExpirationTime(seconds + ttlSeconds)
        .sign(signing);
    },
  };
}

/** Whether a bearer token says that it is a task token. */
export function isTaskToken(token: string): boolean {
  try {
    return decodeProtectedHeader(token).typ === type;
  } catch {
    return false;
  }
}
