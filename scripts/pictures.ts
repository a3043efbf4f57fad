// Draws the pictures of the README: what is served, and a terminal that was recorded while this program ran. `node scripts/pictures.ts`

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { runCli } from "../packages/cli/src/run.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const images = join(root, "docs", "images");

/** One port, five wires, one log. */
function drawStructure(): string {
  const callers = [
    ["browsers", "gRPC-Web, Connect"],
    ["services in any language", "gRPC"],
    ["scripts, webhooks, curl", "HTTP+JSON"],
    ["other A2A agents, 1.0 and 0.3", "JSON-RPC"],
  ];
  const rows = callers.map(([who, wire], at) => {
    const y = 40 + at * 56;
    return `${box(20, y, 230, 40, who)}
  <path d="M250 ${y + 20} C 330 ${y + 20}, 330 144, 408 144" class="line"/>
  <text x="262" y="${y + (at < 2 ? 12 : 38)}" class="small">${wire}</text>`;
  });
  return picture(
    "Callers over five wires, one port with the agent, one log of each task",
    880,
    290,
    `${rows.join("\n")}
  <rect x="410" y="40" width="190" height="208" rx="10" class="box"/>
  <text x="505" y="70" class="mid strong">one port</text>
  <text x="505" y="100" class="mid">card, reflection,</text>
  <text x="505" y="118" class="mid">OpenAPI, inspector</text>
  <text x="505" y="150" class="mid">gates, limits</text>
  <text x="505" y="182" class="mid strong">your execute()</text>
  <text x="505" y="200" class="mid">questions, steps,</text>
  <text x="505" y="218" class="mid">artifacts</text>
  <path d="M600 144 H 658" class="line"/>
  ${box(660, 84, 210, 120, "")}
  <text x="765" y="112" class="mid strong">one log of each task</text>
  <text x="765" y="138" class="mid">every event has a number</text>
  <text x="765" y="158" class="mid">survives kill -9</text>
  <text x="765" y="178" class="mid">resume after any event</text>
  <text x="440" y="276" class="mid small">the .proto is the model: types, codecs, routes and tests are generated from it</text>`,
  );
}

function box(x: number, y: number, width: number, height: number, text: string): string {
  const words =
    text === "" ? "" : `\n  <text x="${x + width / 2}" y="${y + height / 2 + 5}" class="mid">${text}</text>`;
  return `  <rect x="${x}" y="${y}" width="${width}" height="${height}" rx="10" class="box"/>${words}`;
}

const booker = `import { defineAgent, serve } from "@a2a-connect/node";

const booker = defineAgent({
  card: { name: "Booker" },
  durable: true,
  async *execute(task) {
    const offer = await task.step("search", () => {
      console.log("searching …");
      return { table: 7, price: 40 };
    });
    const answer = yield* task.ask({ text: \`Table \${offer.table}?\` });
    if (answer.text === "no") return yield task.reject("Then there is nothing to book.");
    yield task.artifact({ name: "booking", data: offer });
  },
});
const { url } = await serve(booker, { port: 4000, file: "booker.sqlite" });
console.log(\`serving \${url}\`);
`;

/** Kills an agent in the middle of a task, and goes on. */
async function recordKill(): Promise<string> {
  const directory = mkdtempSync(join(root, "test", ".tmp-picture-"));
  try {
    writeFileSync(join(directory, "booker.ts"), booker);
    const printed: string[] = [];
    const first = await startAgent(directory, printed, "node booker.ts &");
    const asked = await a2a(directory, printed, ["send", "-a", "localhost:4000", "a table for two"]);
    const taskId = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(asked)?.[0] ?? "";
    first.kill("SIGKILL");
    const second = await startAgent(
      directory,
      printed,
      "kill -9 %1; node booker.ts &    # what was stored is not done again",
    );
    await a2a(directory, printed, ["send", "-a", "localhost:4000", "--task-id", taskId, "yes"]);
    second.kill("SIGKILL");
    return printed.join("").replaceAll(/([0-9a-f]{8})-[0-9a-f-]{27}/g, "$1…");
  } finally {
    rmSync(directory, { recursive: true });
  }
}

async function startAgent(cwd: string, printed: string[], shown: string) {
  printed.push(`$ ${shown}\n`);
  const child = spawn(process.execPath, ["booker.ts"], { cwd, stdio: ["ignore", "pipe", "ignore"] });
  await new Promise<void>((resolve) => {
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      printed.push(text);
      if (text.includes("serving")) resolve();
    });
  });
  return child;
}

async function a2a(cwd: string, printed: string[], argv: readonly string[]): Promise<string> {
  printed.push(`$ a2a ${argv.map((word) => (word.includes(" ") ? `"${word}"` : word)).join(" ")}\n`);
  let said = "";
  const sink = {
    isTerminal: true,
    write: async (text: string) => {
      printed.push(text);
      said += text;
    },
  };
  const interrupted = new AbortController().signal;
  await runCli(argv, {
    stdout: sink,
    stderr: sink,
    stdin: Readable.from([]),
    env: {},
    cwd,
    home: cwd,
    interrupted,
  });
  return said;
}

const classes: Readonly<Record<string, string>> = {
  2: "dim",
  31: "red",
  32: "green",
  33: "yellow",
  36: "cyan",
};

/** Text with the control sequences of colours, as a picture of a terminal. */
function drawTerminal(text: string): string {
  const lines = text.replaceAll(/\n\n+/g, "\n").trimEnd().split("\n");
  const drawn = lines.map((line, at) => {
    const isTyped = line.startsWith("$ ");
    const spans = line.split("\u001b[").map((piece, index) => {
      const [, code = "", rest = ""] = index === 0 ? ["", "", piece] : (/^(\d+)m(.*)$/.exec(piece) ?? []);
      const style = classes[code];
      return style === undefined ? toXml(rest) : `<tspan class="${style}">${toXml(rest)}</tspan>`;
    });
    return `  <text x="24" y="${58 + at * 20}" xml:space="preserve"${isTyped ? ' class="strong"' : ""}>${spans.join("")}</text>`;
  });
  const height = 78 + lines.length * 20;
  return picture(
    "An agent is killed while a task waits for an answer; it goes on, and nothing is done twice",
    880,
    height,
    `  <rect x="4" y="4" width="872" height="${height - 8}" rx="10" class="box"/>
  <circle cx="26" cy="24" r="6" class="knob"/><circle cx="46" cy="24" r="6" class="knob"/><circle cx="66" cy="24" r="6" class="knob"/>
${drawn.join("\n")}`,
    "ui-monospace, SFMono-Regular, Menlo, Consolas, monospace",
  );
}

function toXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** It follows the reader's choice of light or dark. */
function picture(
  title: string,
  width: number,
  height: number,
  content: string,
  font = "ui-sans-serif, system-ui, sans-serif",
): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="${font}" font-size="14">
  <title>${title}</title>
  <style>
    text { fill: #1f2937; } .box { fill: #f8fafc; stroke: #94a3b8; } .line { fill: none; stroke: #0f766e; stroke-width: 2; }
    .mid { text-anchor: middle; } .small { font-size: 12px; fill: #475569; } .strong { font-weight: 600; } .knob { fill: #cbd5e1; }
    .dim { fill: #64748b; } .red { fill: #b91c1c; } .green { fill: #15803d; } .yellow { fill: #a16207; } .cyan { fill: #0e7490; }
    @media (prefers-color-scheme: dark) {
      text { fill: #e2e8f0; } .box { fill: #0f172a; stroke: #475569; } .line { stroke: #5eead4; } .small { fill: #94a3b8; }
      .knob { fill: #334155; } .dim { fill: #94a3b8; } .red { fill: #f87171; } .green { fill: #4ade80; } .yellow { fill: #facc15; }
      .cyan { fill: #22d3ee; }
    }
  </style>
${content}
</svg>
`;
}

writeFileSync(join(images, "structure.svg"), drawStructure());
writeFileSync(join(images, "kill-and-resume.svg"), drawTerminal(await recordKill()));
