import { pause, startTimer, type Timer } from "@a2a-connect/core/internal";
import { Health, HealthCheckResponse_ServingStatus as Status } from "@a2a-connect/proto/grpc/health/v1";
import type { DescService } from "@bufbuild/protobuf";
import { Code, ConnectError, type ConnectRouter } from "@connectrpc/connect";

/** Options of the health service. */
export interface HealthOptions {
  /** Whether the server takes calls. Called for each check. */
  readonly serving: () => boolean;
  /** The services that a caller may ask for by name, besides the server as a whole (`""`). */
  readonly services?: readonly DescService[];
  /** How often in milliseconds a watch looks for a change. Default 1,000. */
  readonly watchIntervalMs?: number;
  readonly timer?: Timer;
}

/** Serves `grpc.health.v1.Health`. */
export function registerHealth(router: ConnectRouter, options: HealthOptions): void {
  const { serving, services = [], watchIntervalMs = 1_000, timer = startTimer } = options;
  const names = ["", ...services.map(({ typeName }) => typeName)];
  const status = () => (serving() ? Status.SERVING : Status.NOT_SERVING);

  router.service(Health, {
    check({ service }) {
      if (!names.includes(service)) {
        throw new ConnectError("there is no such service", Code.NotFound);
      }
      return { status: status() };
    },

    list: () => ({ statuses: Object.fromEntries(names.map((name) => [name, { status: status() }])) }),

    /** The status now, and each later change, until the caller disconnects. */
    async *watch({ service }, { signal }) {
      let last: Status | undefined;
      while (!signal.aborted) {
        const now = names.includes(service) ? status() : Status.SERVICE_UNKNOWN;
        if (now !== last) {
          last = now;
          yield { status: now };
        }
        await pause(watchIntervalMs, timer, signal);
      }
    },
  });
}
