import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";

/** What shells and commands find around them. */
export interface Surroundings {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** A shell that runs one command after the other. What they export, and where they go, stays. */
export interface Shell extends AsyncDisposable {
  /** Everything that a command prints, on both streams, as a terminal shows it. */
  run(command: string): Promise<string>;
  /** What it has become of what it was started with. */
  surroundings(): Promise<Surroundings>;
}

/** Ends the output of a command; nobody prints it. */
const separator = "\u001e";

/** Starts one. */
export function startShell({ cwd, env }: Surroundings): Shell {
  const child = spawn("bash", ["--noprofile", "--norc"], { cwd, env });
  const ended = once(child, "close");
  const output = collect(child);
  const run: Shell["run"] = async (command) => {
    const from = output.text.length;
    // In a group, so that `cd` and `export` last and nothing reads from this shell's own input; $? lasts as well.
    child.stdin.write(`{ ${command}\n} </dev/null 2>&1; __=$?; printf '${separator}'; (exit $__)\n`);
    await output.until((text) => text.includes(separator, from));
    return output.text.slice(from, -separator.length);
  };
  return {
    run,
    async surroundings() {
      const [directory = cwd, ...variables] = (await run("pwd; env")).trimEnd().split("\n");
      const pairs = variables.map((line) => [
        line.slice(0, line.indexOf("=")),
        line.slice(line.indexOf("=") + 1),
      ]);
      return { cwd: directory, env: Object.fromEntries(pairs) };
    },
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      await ended;
    },
  };
}

/** A command in another terminal. */
export interface Terminal extends AsyncDisposable {
  /** What it has printed so far, on both streams. */
  readonly printed: string;
  /** @throws Error when it ends without having printed that */
  until(pattern: RegExp): Promise<void>;
  interrupt(): void;
  readonly ended: Promise<unknown>;
}

/** Starts it. */
export function startTerminal(command: string, { cwd, env }: Surroundings): Terminal {
  const child = spawn("bash", ["--noprofile", "--norc", "-c", `exec 2>&1 </dev/null; exec ${command}`], {
    cwd,
    env,
  });
  const output = collect(child);
  const ended = once(child, "close");
  return {
    get printed() {
      return output.text;
    },
    async until(pattern) {
      await output.until((text) => pattern.test(text));
    },
    interrupt: () => child.kill("SIGINT"),
    ended,
    async [Symbol.asyncDispose]() {
      child.kill("SIGINT");
      await ended;
    },
  };
}

interface Collected {
  readonly text: string;
  until(isEnough: (text: string) => boolean): Promise<void>;
}

function collect(child: ChildProcessWithoutNullStreams): Collected {
  let text = "";
  let ended = false;
  let next = Promise.withResolvers<void>();
  const wake = () => {
    next.resolve();
    next = Promise.withResolvers();
  };
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
      wake();
    });
  }
  child.once("close", () => {
    ended = true;
    wake();
  });
  return {
    get text() {
      return text;
    },
    async until(isEnough) {
      while (!isEnough(text)) {
        if (ended) {
          throw new Error(`it ended too early, and had printed:\n${text}`);
        }
        await next.promise;
      }
    },
  };
}
