// docs/deploy.md: its proxies, with an agent behind them, over all wires. A machine may have neither nginx nor Caddy.

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createMemoryTaskStore, defineAgent, type ServedAgent, serve } from "@a2a-connect/node";
import { connectAgent } from "@a2a-connect/node/client";
import { createSelfSignedCertificate } from "@a2a-connect/testing";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { readCodeBlocks } from "../readme/code-blocks.ts";

const blocks = readCodeBlocks(fileURLToPath(new URL("../../docs/deploy.md", import.meta.url)));
const { cert, key } = createSelfSignedCertificate();

/** A proxy of the page, changed as a reader changes it: names, ports, files of the certificate. */
interface Proxy {
  readonly command: string;
  readonly version: string;
  readonly start: (folder: string, port: number, agentPort: number) => readonly string[];
}

const proxies: readonly Proxy[] = [
  {
    command: "nginx",
    version: "-v",
    start: (folder, port, agentPort) => {
      const server = configOf("nginx", agentPort)
        .replace("listen 443", `listen 127.0.0.1:${port}`)
        .replace("agents.example.org", "localhost")
        .replace("/etc/ssl/agents.pem", join(folder, "cert.pem"))
        .replace("/etc/ssl/agents.key", join(folder, "key.pem"))
        .replace(
          "$host;\n    grpc_set_header X-Forwarded-For",
          `$http_host;\n    grpc_set_header X-Forwarded-For`,
        );
      const file = join(folder, "nginx.conf");
      const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
        (name) => `${name}_temp_path ${join(folder, name)};`,
      );
      writeFileSync(
        file,
        `daemon off; pid ${join(folder, "pid")}; error_log stderr; events {}
         http { access_log off; ${paths.join(" ")} ${server} }`,
      );
      return ["-c", file, "-p", folder];
    },
  },
  {
    command: "caddy",
    version: "version",
    start: (folder, port, agentPort) => {
      const site = configOf("caddy", agentPort).replace(
        "agents.example.org {",
        `https://localhost:${port} {\n\ttls ${join(folder, "cert.pem")} ${join(folder, "key.pem")}`,
      );
      const file = join(folder, "Caddyfile");
      writeFileSync(file, `{\n\tadmin off\n\tauto_https off\n}\n${site}`);
      return ["run", "--config", file, "--adapter", "caddyfile"];
    },
  },
];

const bindings = [
  "JSONRPC",
  "HTTP+JSON",
  "GRPC",
  "urn:a2a-connect:binding:connect:v1",
  "urn:a2a-connect:binding:grpc-web:v1",
];

describe.each(proxies)("an agent behind $command", ({ command, version, start }) => {
  const isHere = spawnSync(command, [version]).status === 0;
  const folder = mkdtempSync(join(tmpdir(), "a2a-proxy-"));
  let agent: ServedAgent;
  let proxy: ChildProcess;
  let url: string;
  let readOne = Promise.withResolvers<void>();

  beforeAll(async () => {
    if (!isHere) return;
    writeFileSync(join(folder, "cert.pem"), cert);
    writeFileSync(join(folder, "key.pem"), key);
    const port = await findFreePort();
    url = `https://localhost:${port}`;
    const waits = defineAgent({
      card: { name: "Counter", description: "Counts." },
      async *execute(turn) {
        if (turn.text === "") return yield turn.inputRequired("How far?");
        yield turn.append("count", "1 ");
        await readOne.promise;
        for (let at = 2; at <= Number(turn.text); at++) yield turn.append("count", `${at} `);
      },
    });
    agent = await serve(waits, {
      publicUrl: url,
      trustedProxies: ["loopback"],
      store: createMemoryTaskStore(),
      log: () => {},
      shutdown: false,
    });
    proxy = spawn(command, start(folder, port, Number(new URL(agent.url).port)), { stdio: "ignore" });
    await vi.waitFor(() => connectAgent(url, { tls: { ca: cert } }).then((client) => client.close()), 20_000);
  }, 60_000);

  afterAll(async () => {
    proxy?.kill();
    await agent?.close({ graceMs: 0 });
    rmSync(folder, { recursive: true, force: true });
  });

  it.each(bindings)(
    "streams each chunk as it comes, asks and is answered over %s",
    {
      skip: !isHere,
      meta: { skipReason: `no \`${command}\`` },
    },
    async (binding) => {
      await using client = await connectAgent(url, { tls: { ca: cert }, bindings: [binding] });
      readOne = Promise.withResolvers();
      let chunks = 0;
      for await (const { payload } of client.stream("20")) {
        if (payload.case !== "artifactUpdate") continue;
        chunks += 1;
        readOne.resolve(); // the proxy must not hold back the first chunk until there are more
      }
      expect(chunks).toBe(20);
      const result = await client.run("", { onInputRequired: () => "3" });
      expect(result.text()).toBe("1 2 3 ");
    },
  );
});

function configOf(name: string, agentPort: number): string {
  const code = blocks.find((block) => block.name === name)?.code;
  if (code === undefined) throw new Error(`docs/deploy.md has no block "${name}"`);
  return code.replace("127.0.0.1:4000", `127.0.0.1:${agentPort}`);
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // it listens on a port
  server.close();
  await once(server, "close");
  return port;
}
