import { a2aError, type MethodName, type RpcMethod } from "@a2a-connect/core";
import type { SecurityRequirementSchema, SecuritySchemeSchema } from "@a2a-connect/proto";
import type { JsonObject, MessageInitShape } from "@bufbuild/protobuf";
import { Authenticator, type Gates } from "./authenticator.ts";
import { insufficientScope } from "./challenge.ts";
import type { Caller } from "./gate.ts";
import {
  type Action,
  actionOf,
  createScope,
  type Decision,
  defaultOperationScopes,
  type OperationScopes,
  type Policy,
  type Resource,
  readScope,
  scopePolicy,
} from "./policy.ts";

/** Who may call, and what for. */
export interface AuthOptions extends Gates {
  /**
   * The scopes that operations need. `false`: none, for issuers that give tokens without scopes. Default `a2a:tasks:create` and
   * `a2a:tasks:read`.
   */
  readonly scopes?: OperationScopes | false;
  /**
   * Whether a stream ends with UNAUTHENTICATED when the token of its call expires; its caller resumes it with a fresh one. `false`: it
   * goes on until the task ends. Default true.
   */
  readonly endStreamsAtExpiry?: boolean;
  /** Decides what a verified caller may do. Default `scopePolicy(scopes)`. */
  readonly authorize?: Policy;
}

/** The gates of a server and its policy: who calls, what they may do, and what the card says of both. */
export class Access {
  readonly authenticator: Authenticator;
  readonly endsStreams: boolean;
  readonly #policy: Policy;
  readonly #scopes: readonly string[];
  readonly #actions = new Map<RpcMethod, Action>();

  /** @throws Error when the gates and requirements do not fit together */
  constructor(options: AuthOptions) {
    const {
      scopes = defaultOperationScopes,
      authorize = scopePolicy(scopes),
      endStreamsAtExpiry = true,
    } = options;
    this.endsStreams = endStreamsAtExpiry;
    this.authenticator = new Authenticator(options);
    this.#policy = authorize;
    this.#scopes = scopes === false ? [] : [scopes.create, scopes.read];
    this.securitySchemes = Object.fromEntries(
      Object.entries(options.gates).map(([name, { scheme }]) => [name, scheme]),
    );
  }

  /** The card's `securitySchemes`. */
  readonly securitySchemes: Readonly<Record<string, MessageInitShape<typeof SecuritySchemeSchema>>>;

  /** Whether authorization servers give tokens for the server. */
  get hasIssuers(): boolean {
    return this.authenticator.gates.some(({ issuers = [] }) => issuers.length > 0);
  }

  /** Which authorization servers give tokens for the server at a URL, and for what (RFC 9728). */
  describeResource(resource: string): JsonObject {
    return {
      resource,
      authorization_servers: [...new Set(this.authenticator.gates.flatMap(({ issuers = [] }) => issuers))],
      scopes_supported: [...this.#scopes],
      bearer_methods_supported: ["header"],
    };
  }

  /** The card's `securityRequirements`, or those of a skill that needs further scopes. */
  requirements(further: readonly string[] = []): MessageInitShape<typeof SecurityRequirementSchema>[] {
    return this.authenticator.describe([...this.#scopes, ...further]);
  }

  /** @throws ConnectError PermissionDenied that names the scopes, or NotFound */
  authorize(caller: Caller, method: RpcMethod, resource: Resource): void {
    const action = this.#actions.get(method) ?? actionOf(method);
    this.#actions.set(method, action);
    const decision =
      caller.taskId === undefined
        ? this.#policy(caller, action, resource)
        : decideForOneTask(caller.taskId, action, resource);
    if (decision === "allow") {
      return;
    }
    if (decision === "hide") {
      throw a2aError("TASK_NOT_FOUND", "there is no such task", { taskId: resource.taskId });
    }
    throw insufficientScope(decision.needs);
  }
}

/** What a task token allows; no policy changes that. */
const taskOperations: ReadonlySet<MethodName> = new Set<MethodName>([
  "GetTask",
  "SubscribeToTask",
  "SendMessage",
  "SendStreamingMessage",
  "CancelTask",
]);

function decideForOneTask(taskId: string, { operation, kind }: Action, resource: Resource): Decision {
  if (resource.taskId !== "" && resource.taskId !== taskId) return "hide";
  const isAllowed = resource.taskId === taskId && taskOperations.has(operation);
  return isAllowed ? "allow" : { needs: [kind === "read" ? readScope : createScope] };
}
