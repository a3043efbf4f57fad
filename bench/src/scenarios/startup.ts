import { execFile } from "node:child_process";
import { globSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { openClients } from "../load/load-client.ts";
import { jsonRpcWire } from "../load/wires/index.ts";
import { judgeLimit } from "../report/aim.ts";
import { median } from "../report/statistics.ts";
import { formatNumber } from "../report/table.ts";
import type { BenchContext, Scenario } from "../scenario.ts";
import { createServerDirectory } from "../servers/server-directory.ts";
import type { Side } from "../servers/start-server.ts";

/** What is started. */
interface Start {
  readonly name: string;
  readonly side: Side;
  /** Default: the bench's own, which is TypeScript. */
  readonly script?: string;
}

/** From the start of the process to the first answer. */
export const startup: Scenario = {
  name: "startup",
  summary:
    "From the start of the process to the first answer (an echo over JSON-RPC). Ours makes a new database. Both run from JavaScript as npm installs it; the last row runs from our TypeScript sources, whose types are stripped as they are loaded.",
  async run(context) {
    using installed = createServerDirectory();
    context.progress("packing and installing our packages");
    const servers = await installPackages(installed.path);
    const starts: readonly Start[] = [
      { name: "ours", side: "ours", script: join(servers, "our-server.js") },
      { name: "peer", side: "peer", script: join(servers, "peer-server.js") },
      { name: "ours, TypeScript", side: "ours" },
    ];
    const elapsedMs = new Map<Start, number[]>(starts.map((start) => [start, []]));
    for (let round = 0; round < (context.quick ? 2 : 7); round++) {
      for (const start of starts) {
        context.progress(`start of ${start.name}`);
        elapsedMs.get(start)?.push(await measure(context, start));
      }
    }
    const ours = median(elapsedMs.get(starts[0] as Start) ?? []);
    return {
      table: {
        columns: ["side", "starts", "median ms", "fastest ms", "slowest ms"],
        rows: [...elapsedMs].map(([{ name }, times]) => [
          name,
          String(times.length),
          formatNumber(median(times)),
          formatNumber(Math.min(...times)),
          formatNumber(Math.max(...times)),
        ]),
      },
      aims: [judgeLimit("start of ours, as installed", 300, ours, " ms")],
      measurements: [...elapsedMs].map(([{ name }, times]) => ({ side: name, elapsedMs: times })),
    };
  },
};

const runFile = promisify(execFile);
const repository = dirname(dirname(dirname(import.meta.dirname)));

/**
 * Installs our packages and the peer as npm would, with the servers of the bench beside them, as JavaScript.
 *
 * @returns the folder of the servers
 */
async function installPackages(directory: string): Promise<string> {
  const tarballs = join(directory, "tarballs");
  const pack = [join(repository, "scripts/packages.mjs"), "pack", tarballs];
  await runFile(process.execPath, pack, { cwd: repository });
  const { dependencies } = JSON.parse(readFileSync(join(repository, "bench/package.json"), "utf8"));
  const fromRegistry = ["@a2a-js/sdk", "@grpc/grpc-js", "express", "jose"].map(
    (name) => `${name}@${dependencies[name]}`,
  );
  writeFileSync(join(directory, "package.json"), JSON.stringify({ private: true, type: "module" }));
  const packed = readdirSync(tarballs).map((name) => join(tarballs, name));
  await runFile("npm", ["install", "--no-audit", "--no-fund", ...packed, ...fromRegistry], {
    cwd: directory,
  });
  const sources = join(repository, "bench/src");
  for (const file of globSync("{agents,servers}/*.ts", { cwd: sources, exclude: ["**/*.d.ts"] })) {
    const script = stripTypeScriptTypes(readFileSync(join(sources, file), "utf8"));
    mkdirSync(join(directory, dirname(file)), { recursive: true });
    writeFileSync(join(directory, file.replace(/ts$/, "js")), script.replaceAll('.ts";', '.js";'));
  }
  return join(directory, "servers");
}

async function measure(context: BenchContext, { side, script }: Start): Promise<number> {
  const started = performance.now();
  await using server = await context.start(side, script === undefined ? {} : { script });
  using clients = await openClients(jsonRpcWire, server.target);
  await clients.first.send("echo hello");
  return performance.now() - started;
}
