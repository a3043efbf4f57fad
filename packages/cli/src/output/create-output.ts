import type { CliIo } from "../cli-io.ts";
import type { Settings } from "../settings/settings.ts";
import type { Output } from "./output.ts";
import { formatJsonDocument, toBlock, toLine, toSentence } from "./plain-text.ts";

/** The output of one run, which remembers what it has said. */
export interface RunOutput extends Output {
  /** Whether a document was printed: without `--stream` there is only one. */
  readonly answered: boolean;
}

/** The output of one run, on its streams. */
export function createOutput(
  { stdout, stderr }: Pick<CliIo, "stdout" | "stderr">,
  { output: format, stream: streaming, verbose }: Pick<Settings, "output" | "stream" | "verbose">,
): RunOutput {
  const isText = format === "text";
  let answered = false;
  return {
    format,
    streaming,
    verbose,
    get answered() {
      return answered;
    },
    async field(label, value) {
      if (isText && value !== undefined) {
        await stdout.write(`${label}: ${toLine(String(value))}\n`);
      }
    },
    async block(label, content) {
      if (isText) {
        await stdout.write(`${label}:\n${toBlock(content)}\n\n`);
      }
    },
    async document(value) {
      if (!isText) {
        answered = true;
        await stdout.write(`${formatJsonDocument(value, streaming)}\n`);
      }
    },
    async warn(sentence) {
      await stderr.write(`warning: ${toSentence(sentence)}\n`);
    },
    async note(sentence) {
      await stderr.write(`${toSentence(sentence)}\n`);
    },
  };
}
