// Which runtimes besides Node serve an agent, and call one, from the tarballs that `pnpm pack:all` leaves. Holds the table of
// docs/mount.md to what it sees; with --write it writes the table.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "vite";
import { root } from "./packages.mjs";

/** Wires by the names of a card. gRPC is HTTP/2 with trailers, which the web's standards do not have. */
const wires = {
  "JSON-RPC": "JSONRPC",
  "HTTP+JSON": "HTTP+JSON",
  Connect: "urn:a2a-connect:binding:connect:v1",
  "gRPC-Web": "urn:a2a-connect:binding:grpc-web:v1",
  gRPC: "GRPC",
};

const bin = (name) => join("node_modules", ".bin", name);
const deno = [bin("deno"), "run", "--allow-all"];
const web = Object.keys(wires).filter((name) => name !== "gRPC");

/** Each row: what is tried, the command that serves (default: `serve` on Node), and the one that calls (default: on Node). */
const rows = [
  { what: "Deno: `Deno.serve` with `toFetchHandler`", serve: [...deno, "serve-deno.mjs"], tried: web },
  { what: "Deno: `serve` of `@a2a-connect/node`", serve: [...deno, "serve-node.mjs"] },
  { what: "Deno: `connectAgent` of `@a2a-connect/node`", call: deno },
  { what: "Bun: `Bun.serve` with `toFetchHandler`", serve: [bin("bun"), "serve-bun.mjs"], tried: web },
  {
    what: "Bun: `connectAgent` of `@a2a-connect/client`",
    call: [bin("bun")],
    client: "@a2a-connect/client",
    tried: web,
  },
  {
    what: "Workers: `toFetchHandler` in a Durable Object",
    serve: [process.execPath, "serve-workers.mjs"],
    tried: web,
  },
  { what: "Workers: `connectAgent` of `@a2a-connect/client`", worker: true, tried: web },
];

/** @param directory has our packages, bun, deno and miniflare in node_modules */
export async function checkRuntimes(directory, write) {
  cpSync(join(root, "scripts", "runtimes"), directory, { recursive: true });
  await bundleWorker(directory);
  await using onNode = await start(directory, [process.execPath, "serve-node.mjs"]);
  const lines = [];
  for (const row of rows) {
    const found = await tryRow(directory, row, onNode.url);
    const { tried = Object.keys(wires) } = row;
    const cells = Object.keys(wires).map((name) =>
      tried.includes(name) ? (found[wires[name]] ?? found.error) : "–",
    );
    lines.push(`| ${[row.what, ...cells].join(" | ")} |`);
  }
  const head = `| | ${Object.keys(wires).join(" | ")} |\n|---|${Object.keys(wires)
    .map(() => "---|")
    .join("")}`;
  holdPage(`${head}\n${lines.join("\n")}`, write);
  await checkBun(directory);
}

async function tryRow(
  directory,
  { serve, call = [process.execPath], client = "@a2a-connect/node", worker, tried },
  url,
) {
  if (worker === true) {
    await using workers = await start(directory, [process.execPath, "serve-workers.mjs"]);
    return (await fetch(`${workers.url}/call?url=${encodeURIComponent(url)}`)).json();
  }
  await using served = serve === undefined ? undefined : await start(directory, serve);
  const names = (tried ?? Object.keys(wires)).map((name) => wires[name]);
  return JSON.parse(await runToEnd(directory, [...call, "call.mjs", client, served?.url ?? url, ...names]));
}

/** Node's own sockets are not all there in Bun: it says so at once, instead of hanging. */
async function checkBun(directory) {
  const said = await runToEnd(directory, [bin("bun"), "call.mjs", "@a2a-connect/node", "localhost"]);
  if (!said.includes("does not run on Bun")) throw new Error(`on Bun @a2a-connect/node says: ${said}`);
}

async function bundleWorker(directory) {
  await build({
    root: directory,
    configFile: false,
    logLevel: "error",
    ssr: { noExternal: true, target: "webworker" },
    build: {
      ssr: true,
      outDir: "worker",
      rolldownOptions: {
        input: join(directory, "worker.mjs"),
        external: ["cloudflare:workers"],
        output: { entryFileNames: "worker.js", codeSplitting: false },
      },
    },
  });
}

/** Starts a server, and waits for the line in which it says where it is. */
async function start(cwd, [command, ...args]) {
  const child = spawn(command, args, { cwd });
  const url = await new Promise((resolve, reject) => {
    let printed = "";
    const read = (chunk) => {
      printed += chunk;
      const found = /ready (http:\S+)/.exec(printed);
      if (found !== null) resolve(found[1]);
    };
    child.stdout.setEncoding("utf8").on("data", read);
    child.stderr.setEncoding("utf8").on("data", read);
    child.on("exit", () => reject(new Error(`${command} ${args.join(" ")} has ended:\n${printed}`)));
  });
  return { url, [Symbol.asyncDispose]: () => stop(child) };
}

/** Lets a server end by itself: what it has started would stay when it is killed. */
async function stop(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill();
  const timer = setTimeout(() => child.kill("SIGKILL"), 5_000);
  await exited;
  clearTimeout(timer);
}

/** The last line that a program prints. A minute is enough for any. */
async function runToEnd(cwd, [command, ...args]) {
  const child = spawn(command, args, { cwd, timeout: 60_000 });
  let printed = "";
  let problems = "";
  child.stdout.setEncoding("utf8").on("data", (chunk) => (printed += chunk));
  child.stderr.setEncoding("utf8").on("data", (chunk) => (problems += chunk));
  await new Promise((resolve) => child.on("close", resolve));
  const line = printed.trim().split("\n").at(-1) ?? "";
  if (line === "") throw new Error(`${[command, ...args].join(" ")} printed nothing:\n${problems}`);
  return line;
}

const begin = "<!-- runtimes: written by `node scripts/check-installs.mjs --write` -->";
const end = "<!-- end of runtimes -->";

function holdPage(table, write) {
  const page = join(root, "docs", "mount.md");
  const text = readFileSync(page, "utf8");
  const [before, rest] = text.split(begin);
  const [, after] = rest.split(end);
  const wanted = `${before}${begin}\n${table}\n${end}${after}`;
  if (write) writeFileSync(page, wanted);
  else if (wanted !== text) throw new Error(`docs/mount.md is not what the runtimes do:\n${table}`);
}
