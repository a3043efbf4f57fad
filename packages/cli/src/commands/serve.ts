import { InvalidArgumentError, Option } from "commander";
import { type AddCommand, collect, duration, wholeNumber } from "../command.ts";
import type { RetiredKey } from "../serve/card-signing.ts";
import type { ServeFlags } from "../serve/serve-file.ts";

/** `a2a serve FILE`: serves the agent that a module exports, or several, over all five wires, with durable tasks. */
export const addServe: AddCommand = (program, setAction) => {
  const command = program
    .command("serve")
    .description("Serve the default export of a module: an agent, an array of agents, or an object of them")
    .argument("<file>", "TypeScript or JavaScript module: export default defineAgent({ … })")
    .addOption(portOption(4000))
    .addOption(hostOption())
    .addOption(openOption())
    .option(
      "--auth <kind=value>",
      "demand credentials from callers: oidc=ISSUER (an OpenID provider) or api-key=FILE (keys in a JSON file, which a2a makes if it is missing)",
    )
    .option(
      "--cleartext",
      "accept credentials from other machines without TLS, because a proxy in front does TLS",
    )
    .option(
      "--trusted-proxy <address>",
      'a proxy in front of the server, repeatable: an address, a network, or "loopback" for this machine; its X-Forwarded-For tells callers apart',
      collect,
    )
    .option("--db <file>", "file of the task store (default: .a2a/<name of the agent>.sqlite)")
    .addOption(
      new Option("--store <kind>", "where tasks are kept: in a file, or in memory until the server stops")
        .choices(["sqlite", "memory"])
        .conflicts("db"),
    )
    .option(
      "--public-url <url>",
      "URL at which callers reach the server; the card names it (default: server.url of a2a.config.yaml, else where it listens)",
    )
    .option(
      "--sign-key <file>",
      "sign the card with this private key (JWK or PEM), repeatable; the public key is at /.well-known/jwks.json",
      collect,
    )
    .option(
      "--retired-key <file@date>",
      "keep this key, which no longer signs, in the key set until that date, repeatable: old.public.json@2027-01-31",
      (text, before: readonly RetiredKey[] = []) => [...before, parseRetiredKey(text, Date.now())],
    )
    .option(
      "--grace <duration>",
      "how long running tasks may go on after Ctrl-C or SIGTERM; a second Ctrl-C ends at once (default: 30s)",
      duration,
    )
    .option("--no-older-versions", "do not answer callers of A2A 0.3, and leave its members out of the card")
    .option("--watch", "restart the server when the module changes, or a file that it imports")
    .addHelpText("after", examples);
  setAction(
    command,
    async () => async (context, file: string, flags: ServeFlags) => {
      if (flags.watch === true)
        return await (await import("../serve/watch.ts")).serveAndWatch(context, flags.grace);
      const { serveFile } = await import("../serve/serve-file.ts");
      return await serveFile(context, file, flags);
    },
    "local",
  );
};

/** ISO 8601: a day, which means its beginning in UTC, or a time with its zone. */
const isoDate = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2}))?$/;

/**
 * Reads `FILE@DATE`. A file may have an @ in its name, a date has none.
 *
 * @param now milliseconds since 1970
 * @throws InvalidArgumentError when the date is none, or past
 */
function parseRetiredKey(text: string, now: number): RetiredKey {
  const at = text.lastIndexOf("@");
  const [file, date] = [text.slice(0, Math.max(at, 0)), text.slice(at + 1)];
  const until = new Date(date);
  const isDate = isoDate.test(date) && !Number.isNaN(until.getTime());
  // What is after the end of a month would be a day of the next one.
  if (file === "" || !isDate || (date.length === 10 && !until.toISOString().startsWith(date))) {
    throw new InvalidArgumentError("Give a file, @ and a date: old.public.json@2027-01-31.");
  }
  if (until.getTime() <= now) {
    throw new InvalidArgumentError("The date is past: leave the key out, because it no longer counts.");
  }
  return { file, until };
}

const examples = `
A signed card names its own URL and that of its key set. So set --public-url to the URL at which callers reach the
server; without it, only this machine can verify the card. With several agents, each has a key set below its path, and
all keys together are at the root. A PEM file has no key id, and does not say that a key is for PS256: if you need either,
use a JWK. The date of --retired-key is a day (its beginning in UTC), or a time with its zone, such as
2027-01-31T12:00:00Z.

Examples:
  a2a serve agent.ts
  a2a serve agent.ts --host 0.0.0.0 --open --public-url https://agents.example.org --sign-key keys/2026.json
  a2a serve agent.ts --sign-key keys/2027.json --retired-key keys/2026.public.json@2027-01-31`;

/** `--port` of all commands that listen. Undefined when it was not given: something else may say it. */
export function portOption(preset: number): Option {
  const description = `port to listen on; 0: any that is free (default: ${preset})`;
  return new Option("--port <number>", description).argParser(wholeNumber(0, 65_535));
}

export function hostOption(): Option {
  return new Option(
    "--host <name>",
    "address to listen on; 0.0.0.0: open to the network (default: localhost)",
  );
}

function openOption(): Option {
  return new Option(
    "--open",
    "let all callers that reach --host call without credentials (default: only callers on this machine)",
  );
}

/** `a2a demo-server`: an agent to practise every command with (a2a-cli §7.1). */
export const addDemoServer: AddCommand = (program, setAction) => {
  const command = program
    .command("demo-server")
    .description("Run a demo agent to practise every command with")
    .addOption(portOption(4100))
    .addOption(hostOption())
    .addOption(openOption());
  setAction(command, async () => (await import("../demo/serve-demo.ts")).serveDemo, "local");
};

/** `a2a new NAME`: a working agent with a test, to begin with. */
export const addNew: AddCommand = (program, setAction) => {
  const command = program
    .command("new")
    .description("Create a small project: an agent that works, and its test")
    .argument("<name>", "name of the project, such as table-booker")
    .option("--durable", "an agent whose tasks survive a crash")
    .option("--dir <path>", "where to write it (default: a directory of that name)");
  setAction(command, async () => (await import("../scaffold/create-project.ts")).createProject, "local");
};

/** `a2a inspect`: the inspector's page, for any agents. */
export const addInspect: AddCommand = (program, setAction) => {
  const command = program
    .command("inspect")
    .description("Serve a page on this machine to talk to agents and look into their tasks, wires and cards")
    .argument("[agents...]", "hosts, URLs, card files or names in a2a.config.yaml (default: --agent-card)")
    .option("--port <number>", "port to listen on; 0: any that is free", wholeNumber(0, 65_535), 4200);
  setAction(command, async () => (await import("../inspect/run-inspect.ts")).runInspect, "card");
};
