import { parseArgs } from "node:util";
import { type Profile, profiles } from "./reference-agent.ts";
import { type CommandList, commandLists } from "./skills.ts";

/** The command line, checked. */
export interface Options {
  readonly port: number;
  readonly host: string;
  /** Everyone may call who can reach the host. */
  readonly open: boolean;
  /** Credentials that callers need, as `parseAuthFlag` reads them. */
  readonly auth: string | undefined;
  /** A proxy in front of it has the TLS. */
  readonly cleartext: boolean;
  readonly dataDir: string;
  readonly store: "sqlite" | "memory";
  readonly profile: Profile;
  readonly jsonMedia: "a2a" | "json";
  readonly publicUrl: string | undefined;
  /** Webhooks that may be reached although they are not public: hosts, host:port, networks. */
  readonly pushAllow: readonly string[];
  /** File that each step of `steps` adds a line to. */
  readonly sideEffects: string | undefined;
}

/** This machine's own names. */
const loopback = ["localhost", "127.0.0.1", "::1"];

export const help = `Usage: npm start -- [options]

Serves the reference agent over gRPC, gRPC-Web, Connect, HTTP+JSON and JSON-RPC on one port.

Options:
  --port N             port to listen on; 0 takes any that is free (default 4000)
  --host NAME          address to bind; 0.0.0.0 is open to the network (default localhost)
  --open               let everyone call who can reach that address (needed unless it is this machine)
  --auth KIND=VALUE    callers need credentials: oidc=ISSUER for access tokens of an OpenID provider for this server's base
                       URL, api-key=FILE for keys in a JSON file, which is made if there is none
  --cleartext          let credentials come without TLS beyond this machine: a proxy in front has it
  --data DIR           where tasks are kept (default .data)
  --store KIND         sqlite or memory (default sqlite)
  --profile NAME       full, bare or required-extension (default full)
  --json-media NAME    media type of HTTP+JSON answers where the request names none: a2a or json (default a2a)
  --public-url URL     base URL in the agent card (default: the address that is bound)
  --push-allow HOST,…  webhooks that may be reached although they are not public https addresses: names, host:port,
                       networks such as 10.0.0.0/8; empty for none (default: this machine, while --host is this
                       machine, too; an open server would let others reach what listens only here)
  --side-effects FILE  file that each step of the command "steps" adds a line to: the task's id and the step's number
  --help               this text

What the text of a message makes the agent do, unless the message names another skill:
${commandLists.map(renderCommands).join("\n")}
Anything else: COMPLETED, with an echo.
`;

/**
 * The options in `args`; undefined when help was asked for.
 *
 * @throws Error with a sentence about the first thing that is wrong
 */
export function parseOptions(args: readonly string[]): Options | undefined {
  const { values } = parseArgs({
    args: args.filter((arg) => arg !== "--"),
    options: {
      port: { type: "string", default: "4000" },
      host: { type: "string", default: "localhost" },
      open: { type: "boolean", default: false },
      auth: { type: "string" },
      cleartext: { type: "boolean", default: false },
      data: { type: "string", default: ".data" },
      store: { type: "string", default: "sqlite" },
      profile: { type: "string", default: "full" },
      "json-media": { type: "string", default: "a2a" },
      "public-url": { type: "string" },
      "push-allow": { type: "string" },
      "side-effects": { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) {
    return undefined;
  }
  return {
    port: parsePort(values.port),
    host: values.host,
    open: values.open,
    auth: values.auth,
    cleartext: values.cleartext,
    dataDir: values.data,
    store: oneOf("--store", values.store, ["sqlite", "memory"]),
    profile: oneOf("--profile", values.profile, profiles),
    jsonMedia: oneOf("--json-media", values["json-media"], ["a2a", "json"]),
    publicUrl: parseUrl(values["public-url"]),
    pushAllow: parseHosts(values["push-allow"]) ?? (isLoopback(values.host) ? loopback : []),
    sideEffects: values["side-effects"],
  };
}

function parsePort(value: string): number {
  const port = Number(value);
  if (!/^\d+$/.test(value) || port > 65_535) {
    throw new Error(`--port must be a number from 0 to 65535, not "${value}"`);
  }
  return port;
}

function oneOf<Value extends string>(flag: string, value: string, allowed: readonly Value[]): Value {
  const found = allowed.find((candidate) => candidate === value);
  if (found === undefined) {
    throw new Error(`${flag} must be one of ${allowed.join(", ")}, not "${value}"`);
  }
  return found;
}

function parseUrl(value: string | undefined): string | undefined {
  if (value !== undefined && !/^https?:\/\//.test(value)) {
    throw new Error(`--public-url must begin with http:// or https://, not "${value}"`);
  }
  return value;
}

function parseHosts(value: string | undefined): readonly string[] | undefined {
  return value?.split(",").flatMap((entry) => entry.trim() || []);
}

/** Whoever can call a server that is bound there could call this machine's webhooks just as well. */
function isLoopback(host: string): boolean {
  return loopback.includes(host) || host.startsWith("127.");
}

function renderCommands({ skill, afterCrash, commands }: CommandList): string {
  return [`${skill}: ${afterCrash}`, ...commands.map(({ usage }) => `  ${usage}`)].join("\n");
}
