import { findA2AError, isTerminal } from "@a2a-connect/core";
import { stateOf, untilAborted } from "@a2a-connect/core/internal";
import { Code, ConnectError } from "@connectrpc/connect";
import { newId, showCode, toRequest } from "../calls.ts";
import { callRaw } from "../raw-calls.ts";
import type { Place, SpecVersion } from "../requirements.ts";
import type { Target } from "../target.ts";

/** Something that the texts differ in, as one server does it. */
export interface DialectSign {
  /** For example `VERSION_NOT_SUPPORTED over gRPC`. */
  readonly what: string;
  /** For example `UNIMPLEMENTED (12)`. */
  readonly seen: string;
  /** The text that says so; undefined when neither does. */
  readonly spec: SpecVersion | undefined;
}

/** Which text a server speaks. */
export interface Dialect {
  /** What it is measured by, or, where none was asked for, what it speaks. */
  readonly spec: SpecVersion;
  /** Whether that was asked for, and not seen. */
  readonly isGiven: boolean;
  /** Empty when it has no wire that they differ on, or does not answer. */
  readonly signs: readonly DialectSign[];
}

/**
 * Looks at what the texts differ in: asks for a version that does not exist, for what the card does not declare, for a list,
 * and for the cancellation of a task that has ended, which it makes. A server that mixes them counts as one of 1.0.1.
 */
export async function findDialect(
  target: Target,
  places: ReadonlySet<Place>,
  given: SpecVersion | undefined,
): Promise<Dialect> {
  const found = await Promise.all(
    probes
      .filter(({ wire }) => places.has(wire) && target.wires.includes(wire))
      .map(({ look }) => untilAborted(look(target), target.signal).catch(() => undefined)),
  );
  const signs = found.filter((sign) => sign !== undefined);
  const numbers = new Set(signs.filter(({ what }) => what !== mediaType).map(({ spec }) => spec));
  const seen = numbers.size === 1 && numbers.has("1.0.0") ? "1.0.0" : "1.0.1";
  return { spec: given ?? seen, isGiven: given !== undefined, signs };
}

/** Looks at one thing; undefined when the server does not show it. */
interface DialectProbe {
  readonly wire: "grpc" | "http-json";
  readonly look: (target: Target) => Promise<DialectSign | undefined>;
}

const mediaType = "media type of HTTP+JSON answers to requests that name none";

const probes: readonly DialectProbe[] = [
  {
    wire: "grpc",
    look: (target) =>
      lookAtGrpcCode("VERSION_NOT_SUPPORTED", () =>
        target.client("grpc", { version: "99.0" }).listTasks({ pageSize: 1 }),
      ),
  },
  {
    wire: "grpc",
    look: (target) =>
      lookAtGrpcCode("PUSH_NOTIFICATION_NOT_SUPPORTED", () =>
        target.client("grpc").listTaskPushNotificationConfigs({ taskId: newId() }),
      ),
  },
  {
    wire: "grpc",
    look: (target) =>
      lookAtGrpcCode("UNSUPPORTED_OPERATION", () => target.client("grpc").getExtendedAgentCard({})),
  },
  { wire: "http-json", look: lookAtCancel },
  {
    wire: "http-json",
    async look(target) {
      const request = { pageSize: 1 };
      const { status, header } = await callRaw({ wire: "http-json", target }, "listTasks", request, {
        accept: "*/*",
      });
      const [seen = ""] = header.get("content-type")?.split(";") ?? [];
      const spec =
        seen === "application/json" ? "1.0.0" : seen === "application/a2a+json" ? "1.0.1" : undefined;
      return status < 300 ? { what: mediaType, seen, spec } : undefined;
    },
  },
];

/** @returns undefined when the call does not fail for that reason: its number says nothing then */
async function lookAtGrpcCode(
  reason: string,
  call: () => Promise<unknown>,
): Promise<DialectSign | undefined> {
  const error = await call().then(() => undefined, ConnectError.from);
  if (error === undefined || findA2AError(error)?.reason !== reason) return undefined;
  const what = `${reason} over gRPC`;
  const specs = new Map<Code, SpecVersion>([
    [Code.FailedPrecondition, "1.0.1"],
    [Code.Unimplemented, "1.0.0"],
  ]);
  return { what, seen: showCode(error.code), spec: specs.get(error.code) };
}

async function lookAtCancel(target: Target): Promise<DialectSign | undefined> {
  const { payload } = await target.client("http-json").sendMessage(toRequest("task done"));
  if (payload.case !== "task" || !isTerminal(stateOf(payload.value))) {
    return undefined;
  }
  const { id } = payload.value;
  const { status } = await callRaw({ wire: "http-json", target }, "cancelTask", { id });
  const spec = status === 409 ? "1.0.0" : status === 400 ? "1.0.1" : undefined;
  return { what: "TASK_NOT_CANCELABLE over HTTP+JSON", seen: `HTTP ${status}`, spec };
}
