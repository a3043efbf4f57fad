import { InvalidArgumentError, Option } from "commander";
import { type AddCommand, collect, durationOption, wholeNumber } from "../command.ts";

/** As `a2a conformance` spells them, in the order of help. */
const wires = ["grpc", "grpc-web", "connect", "jsonrpc", "http-json", "card"] as const;

/** `a2a conformance`: tries each requirement of A2A on a server, in any language, over every wire that its card declares. */
export const addConformance: AddCommand = (program, setAction) => {
  const command = program
    .command("conformance")
    .summary("Show which requirements of A2A a server meets; exits with 1 when a MUST is not met")
    .description(
      "Calls a server over every wire that its card declares. The report says which requirements of A2A the server meets. Where it " +
        "does not meet one, the report says what the server did instead. The report also says what could not be tried, and why. " +
        "The run sends messages that the agent answers: if an answer costs money, so does the run.",
    )
    .argument("[agent]", "host, URL or name in a2a.config.yaml (default: --agent-card)")
    .option("--wire <wire>", `try only this wire, repeatable: ${wires.join(", ")}`, collectWire)
    .option(
      "--only <requirements>",
      "try only A-1 (an id), E (a group), MUST (a level); repeatable",
      collectWords,
    )
    .addOption(
      new Option(
        "--agent <kind>",
        "kind of agent: any, or reference for the agent of `npm start`, on which more checks are possible",
      )
        .choices(["any", "reference"])
        .default("any"),
    )
    .addOption(
      new Option("--spec <version>", "text of A2A 1.0 to check against (default: the server's)").choices([
        "1.0.0",
        "1.0.1",
      ]),
    )
    .option("--strict", "exit with 1 for a SHOULD that is not met, too")
    .option(
      "--html <file>",
      "write a page with every requirement, and the requests and answers where one is not met",
    )
    .option("--junit <file>", "write JUnit XML, for CI")
    .option("--badge <file>", "write an SVG badge, for a README")
    .option("--concurrency <n>", "conversations at a time", wholeNumber(1, 32), 4)
    .addOption(durationOption("--scenario-timeout <duration>", "how long one conversation may take", "10s"))
    .addOption(
      durationOption("--run-timeout <duration>", "how long the run may take; the rest is not run", "60s"),
    )
    .addHelpText("after", explanation);
  setAction(
    command,
    async () => (await import("../conformance/conformance-command.ts")).runConformanceCommand,
    "called",
  );
};

function collectWords(text: string, before: readonly string[] = []): readonly string[] {
  return text.split(",").reduce((all, word) => collect(word.trim(), all), before);
}

function collectWire(text: string, before?: readonly string[]): readonly string[] {
  const words = collectWords(text, before);
  if (words.every((word) => wires.some((wire) => wire === word))) return words;
  throw new InvalidArgumentError(`Allowed choices are ${wires.join(", ")}.`);
}

const explanation = `
A requirement is a MUST (the specification demands it), a SHOULD (the specification recommends it, or contradicts itself) or a
MAY (the specification leaves it open). Each check is one conversation over one wire. A check that does not apply to the server
says why, and is never counted as passed. The specification has two published texts that differ in some error numbers, 1.0.0 and
1.0.1: a server may speak either, and the report names the one that it speaks.

Exit codes: 0 when every MUST that could be tried is met; 1 when a MUST is not met, when no check passed, or when some checks
were not run.

Examples:
  a2a conformance localhost:4000
  a2a conformance https://agent.example.com --html report.html --junit report.xml
  a2a conformance localhost:4000 --only E,A-31 --wire http-json --verbose
  A2ACLI_BEARER=… a2a conformance https://agent.example.com --strict --run-timeout 5m`;
