// The languages of the peers: what each needs, how its programs are made, and how they are started. What is made lies in a
// folder that git ignores.

import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** A command, run in the root of the repository. */
export interface Command {
  readonly line: readonly [command: string, ...args: string[]];
  /** Beside what the environment has. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Something that is installed for the tests. */
export interface Installation {
  readonly name: string;
  /** Prints the version of what a machine must have. */
  readonly toolchain: Command;
  /** Files and folders that the steps depend on. */
  readonly inputs: readonly string[];
  /** A folder of what the steps make, which is emptied before them. */
  readonly stubs: string;
  /** What installs and makes everything: each step with what it is for. */
  readonly steps: readonly (Command & { readonly what: string })[];
}

/** A language whose peers we talk with. */
export interface Language extends Installation {
  /** The peer of stubs made from our proto, and the peer of the official SDK. */
  readonly programs: Readonly<Record<"stubs" | "sdk", Command>>;
  /** Whether the SDK makes and verifies the signatures of cards. */
  readonly signsCards: boolean;
}

export const root: string = fileURLToPath(new URL("../../../", import.meta.url));
const cache = "test/interop/.cache";

const protoFile = "proto/lf/a2a/v1/a2a.proto";
const circuit = "test/interop/circuit";
const instructionFile = `${circuit}/instruction.proto`;

const venv = `${cache}/python/venv`;
const pythonStubs = `${cache}/python/stubs`;
const pythonEnv = { PYTHONPATH: join(root, pythonStubs), PYTHONDONTWRITEBYTECODE: "1" };

const goModule = "test/interop/go";
const goStubs = `${goModule}/stubs`;
const goBin = join(root, cache, "go/bin");
const goEnv = {
  CGO_ENABLED: "0",
  GOPATH: join(root, cache, "go/path"),
  GOCACHE: join(root, cache, "go/build"),
  GOFLAGS: "-buildvcs=false -modcacherw", // modules that can be deleted, and no question to git
};

/** Not optimised, and without symbols: to compile is most of what the peers cost. */
function buildGo(...packages: readonly string[]): Command {
  const flags = ["-C", goModule, "-gcflags=all=-N -l", "-ldflags=-s -w", "-o", `${goBin}/`];
  return { line: ["go", "build", ...flags, ...packages], env: goEnv };
}

/** Makes Go of the protos of a folder of buf's. */
function generateGo(...folder: readonly string[]): Command {
  const plugins = ["protoc-gen-go", "protoc-gen-go-grpc"].map((plugin) => ({
    local: join(goBin, plugin),
    out: goStubs,
    opt: ["module=a2a-connect/interop/stubs", "Mlf/a2a/v1/a2a.proto=a2a-connect/interop/stubs/a2a"],
  }));
  return {
    line: ["buf", "generate", ...folder, "--template", JSON.stringify({ version: "v2", plugins })],
  };
}

export const languages: readonly Language[] = [
  {
    name: "Python",
    toolchain: { line: ["python3", "--version"] },
    inputs: ["test/interop/python/requirements.txt", protoFile, instructionFile],
    stubs: pythonStubs,
    steps: [
      { what: "a virtual environment", line: ["python3", "-m", "venv", "--clear", venv] },
      {
        what: "packages of PyPI",
        line: [
          `${venv}/bin/python`,
          ...["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-cache-dir"],
          ...["-r", "test/interop/python/requirements.txt"],
        ],
      },
      {
        what: "stubs by grpcio-tools",
        line: [
          `${venv}/bin/python`,
          ...["-m", "grpc_tools.protoc", "-Iproto", "-Ithird_party/googleapis", `-I${circuit}`],
          ...[`--python_out=${pythonStubs}`, `--grpc_python_out=${pythonStubs}`, protoFile, instructionFile],
        ],
      },
    ],
    programs: {
      stubs: { line: [`${venv}/bin/python`, "test/interop/python/stub_peer.py"], env: pythonEnv },
      sdk: { line: [`${venv}/bin/python`, "test/interop/python/sdk_peer.py"], env: pythonEnv },
    },
    signsCards: true,
  },
  {
    name: "Go",
    toolchain: { line: ["go", "version"] },
    inputs: [
      ...["go.mod", "go.sum", "lines", "stubpeer", "sdkpeer"].map((path) => `${goModule}/${path}`),
      ...[protoFile, instructionFile],
    ],
    stubs: goStubs,
    steps: [
      {
        what: "protoc-gen-go and protoc-gen-go-grpc",
        ...buildGo(
          "google.golang.org/protobuf/cmd/protoc-gen-go",
          "google.golang.org/grpc/cmd/protoc-gen-go-grpc",
        ),
      },
      { what: "stubs of our proto", ...generateGo("--path", protoFile) },
      { what: "stubs of the circuit's proto", ...generateGo(circuit) },
      { what: "the peers", ...buildGo("./stubpeer", "./sdkpeer") },
    ],
    programs: {
      stubs: { line: [join(goBin, "stubpeer")] },
      sdk: { line: [join(goBin, "sdkpeer")] },
    },
    signsCards: false,
  },
];

const olderVenv = `${cache}/python-0.3/venv`;

/** The official Python SDK of A2A 0.3, which needs an environment of its own. */
export const olderPython: Installation & { readonly peer: Command } = {
  name: "Python with the SDK 0.3",
  toolchain: { line: ["python3", "--version"] },
  inputs: ["test/interop/older/requirements.txt"],
  stubs: olderVenv,
  steps: [
    { what: "a virtual environment", line: ["python3", "-m", "venv", "--clear", olderVenv] },
    {
      what: "packages of PyPI",
      line: [
        `${olderVenv}/bin/python`,
        ...["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-cache-dir"],
        ...["-r", "test/interop/older/requirements.txt"],
      ],
    },
  ],
  peer: {
    line: [`${olderVenv}/bin/python`, "test/interop/older/sdk_peer.py"],
    env: { PYTHONDONTWRITEBYTECODE: "1" },
  },
};

/**
 * Frameworks with the JavaScript SDK 0.3, as they are on npm. They are no dependencies of the repository, because they are 170 MB.
 * Their versions are exact; those of what they need are the newest that they allow.
 */
export const frameworks: Installation & { readonly folder: string } = {
  name: "frameworks",
  toolchain: { line: ["npm", "--version"] },
  inputs: [],
  stubs: `${cache}/frameworks`,
  folder: join(root, cache, "frameworks"),
  steps: [
    {
      what: "packages of npm",
      line: [
        "npm",
        ...["install", "--no-save", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"],
        ...["--prefix", `${cache}/frameworks`],
        ...["@google/adk@2.0.0", "a2a-ai-provider@0.5.0-alpha.1", "ai@6.0.326"],
      ],
    },
  ],
};

/** Everything that is installed. */
export const installations: readonly Installation[] = [...languages, olderPython, frameworks];

/** The file that says for which inputs everything was made. */
export function stampFile({ name }: Installation): string {
  return join(root, cache, `${name}.stamp`);
}

/** What the steps depend on, as one text: the inputs, and the steps themselves. */
export function inputsOf({ inputs }: Installation): string {
  const hash = createHash("sha256");
  for (const path of ["test/interop/peers/languages.ts", ...inputs].flatMap(filesOf))
    hash.update(path).update(readFileSync(join(root, path)));
  return hash.digest("hex");
}

/** Whether everything was made, for the inputs of today. */
export function isInstalled(installation: Installation): boolean {
  const stamp = stampFile(installation);
  return existsSync(stamp) && readFileSync(stamp, "utf8").startsWith(inputsOf(installation));
}

function filesOf(path: string): readonly string[] {
  if (!statSync(join(root, path)).isDirectory()) return [path];
  return readdirSync(join(root, path))
    .sort()
    .flatMap((name) => filesOf(`${path}/${name}`));
}

/** Options of tests that need these peers. */
export function whereInstalled(...needed: readonly Installation[]): {
  readonly skip: boolean;
  readonly meta: { readonly skipReason: string };
} {
  const names = needed.map(({ name }) => name).join(" and ");
  const commands = needed.map(({ toolchain }) => `\`${toolchain.line[0]}\``).join(" and ");
  const skipReason = `no peers in ${names}: \`pnpm test:interop\` makes them where there is ${commands}`;
  return { skip: !needed.every(isInstalled), meta: { skipReason } };
}
