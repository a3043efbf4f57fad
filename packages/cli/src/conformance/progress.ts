import type { Result } from "@a2a-connect/conformance";
import type { TextSink } from "../cli-io.ts";
import type { CommandContext } from "../context.ts";
import { type Output, toLine } from "../output.ts";
import type { CheckTable } from "./check-table.ts";
import { LiveBlock } from "./live-block.ts";

/** Shows a run while it runs. */
export interface Progress {
  /** @param failure in one line; undefined also for one whose cause was shown before */
  show(result: Result, failure: string | undefined): Promise<void>;
  /** Leaves the terminal in order, also when the run has failed. */
  end(): Promise<void>;
  /** Prints the table, where it does not stand there yet. */
  summarize(): Promise<void>;
}

/** A live table with progress on a terminal, and plain lines otherwise. */
export function createProgress(
  { io, output }: Pick<CommandContext, "io" | "output">,
  table: CheckTable,
  total: number,
): Progress {
  if (output.format === "text" && io.stdout.isTerminal && !output.verbose) {
    return createLiveProgress(io.stdout, output.paint, table, total);
  }
  return {
    show: (_, failure) => output.field("Failed", failure),
    end: async () => {},
    summarize: () => output.block("Passed", table.lines().join("\n")),
  };
}

function createLiveProgress(
  stdout: TextSink,
  paint: Output["paint"],
  table: CheckTable,
  total: number,
): Progress {
  const block = new LiveBlock(stdout, () => process.stdout.rows || 24);
  let [done, failed] = [0, 0];
  const render = (): readonly string[] => {
    const progress = `${done} of ${total} checks${failed === 0 ? "" : `, ${failed} failed`}`;
    return table.width < (process.stdout.columns || 80) ? [...table.lines(paint), progress] : [progress];
  };
  return {
    async show({ outcome }, failure) {
      done += 1;
      if (outcome === "failed") failed += 1;
      if (failure === undefined) return await block.draw(render);
      await block.above(`${paint("red", "✗")} ${toLine(failure)}\n`, render);
    },
    end: () => block.finish(render),
    summarize: async () => {},
  };
}
