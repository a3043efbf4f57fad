import type { Command, Option } from "commander";
import { settingOptions } from "../options.ts";

/** A shell that can be taught to complete. */
export type Shell = "bash" | "zsh" | "fish";

/** The script for one shell, made from the commands as they are. */
export function createCompletionScript(program: Command, shell: Shell): string {
  const nodes = listCompletionNodes(program);
  switch (shell) {
    case "bash":
      return createBashScript(nodes);
    case "zsh":
      return createZshScript(nodes);
    case "fish":
      return createFishScript(nodes);
  }
}

function createBashScript(nodes: readonly CompletionNode[]): string {
  const words = nodes.map(
    ({ path, commands, options }) =>
      `    ${quote(path)}) words=${quote([...commands.map(({ word }) => word), ...options.map(({ long }) => long)].join(" "))} ;;`,
  );
  const values = choicesOf(nodes).map(
    ({ flags, choices }) =>
      `    ${flags.join("|")}) COMPREPLY=($(compgen -W ${quote(choices.join(" "))} -- "$cur")); return ;;`,
  );
  return `# bash completion of a2a: source <(a2a completion bash)
_a2a() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}" at="" words="" i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "\${COMP_WORDS[i]}" in
      ${valueFlags(nodes).join("|")}) ((i++)); continue ;;
    esac
    case "\${at:+$at }\${COMP_WORDS[i]}" in
      ${paths(nodes).map(quote).join("|")}) at="\${at:+$at }\${COMP_WORDS[i]}" ;;
    esac
  done
  case "$prev" in
${values.join("\n")}
    ${anyFlags(nodes).join("|")}) return ;;
  esac
  case "$at" in
${words.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _a2a a2a
`;
}

function createZshScript(nodes: readonly CompletionNode[]): string {
  const entries = nodes.map(({ path, commands, options }) => {
    const described = [
      ...commands.map(({ word, description }) => [word, description] as const),
      ...options.map(({ long, description }) => [long, description] as const),
    ].map(([word, description]) => `      ${quote(`${word.replaceAll(":", "\\:")}:${description}`)}`);
    return `    ${quote(path)}) entries=(\n${described.join("\n")}\n    ) ;;`;
  });
  const values = choicesOf(nodes).map(
    ({ flags, choices }) => `    ${flags.join("|")}) compadd -- ${choices.map(quote).join(" ")}; return ;;`,
  );
  return `#compdef a2a
# zsh completion of a2a: source <(a2a completion zsh)
_a2a() {
  local at="" i
  local -a entries
  for ((i = 2; i < CURRENT; i++)); do
    case "$words[i]" in
      ${valueFlags(nodes).join("|")}) ((i++)); continue ;;
    esac
    case "\${at:+$at }$words[i]" in
      ${paths(nodes).map(quote).join("|")}) at="\${at:+$at }$words[i]" ;;
    esac
  done
  case "$words[CURRENT-1]" in
${values.join("\n")}
    ${anyFlags(nodes).join("|")}) _files; return ;;
  esac
  case "$at" in
${entries.join("\n")}
  esac
  _describe a2a entries || _files
}
if [ "$funcstack[1]" = "_a2a" ]; then _a2a "$@"; else compdef _a2a a2a; fi
`;
}

function paths(nodes: readonly CompletionNode[]): readonly string[] {
  return nodes.map(({ path }) => path).filter((path) => path !== "");
}

function choicesOf(
  nodes: readonly CompletionNode[],
): readonly { readonly flags: readonly string[]; readonly choices: readonly string[] }[] {
  return uniqueOptions(nodes).flatMap((option) =>
    typeof option.value === "string" ? [] : [{ flags: flagsOf(option), choices: option.value }],
  );
}

function anyFlags(nodes: readonly CompletionNode[]): readonly string[] {
  return uniqueOptions(nodes).flatMap((option) => (option.value === "any" ? flagsOf(option) : []));
}

function valueFlags(nodes: readonly CompletionNode[]): readonly string[] {
  return uniqueOptions(nodes).flatMap((option) => (option.value === "none" ? [] : flagsOf(option)));
}

/** Options of the same name are the same, wherever they are. */
function uniqueOptions(nodes: readonly CompletionNode[]): readonly CompletionOption[] {
  return [
    ...new Map(nodes.flatMap(({ options }) => options).map((option) => [option.long, option])).values(),
  ];
}

function flagsOf({ long, short }: CompletionOption): readonly string[] {
  return short === undefined ? [long] : [long, short];
}

/** For bash and zsh. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** The script for fish. */
function createFishScript(nodes: readonly CompletionNode[]): string {
  const paths = nodes.map(({ path }) => path).filter((path) => path !== "");
  const lines = nodes.flatMap((node) => {
    const condition = `-n ${quoteForFish(`test (__a2a_at | string collect) = ${quoteForFish(node.path)}`)}`;
    return [
      ...node.commands.map(
        ({ word, description }) =>
          `complete -c a2a -f ${condition} -a ${word} -d ${quoteForFish(description)}`,
      ),
      ...node.options.map((option) => `complete -c a2a ${condition} ${describeOption(option)}`),
    ];
  });
  return `# fish completion of a2a: a2a completion fish | source
function __a2a_at
  set -l at ''
  for word in (commandline -opc)[2..-1]
    set -l next (string trim -- "$at $word")
    if contains -- "$next" ${paths.map(quote).join(" ")}
      set at "$next"
    end
  end
  echo "$at"
end
${lines.join("\n")}
`;
}

function describeOption({ long, short, description, value }: CompletionOption): string {
  const parts = [`-l ${long.replace(/^--/, "")}`];
  if (short !== undefined) parts.push(`-s ${short.replace(/^-/, "")}`);
  if (value !== "none") parts.push(value === "any" ? "-r" : `-x -a ${quoteForFish(value.join(" "))}`);
  return [...parts, `-d ${quoteForFish(description)}`].join(" ");
}

function quoteForFish(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}

/** One command, as a shell needs to know it. */
interface CompletionNode {
  /** The words after `a2a`, such as `task get`; empty for `a2a` itself. */
  readonly path: string;
  readonly commands: readonly { readonly word: string; readonly description: string }[];
  readonly options: readonly CompletionOption[];
}

/** An option with what may follow it. */
interface CompletionOption {
  readonly long: string;
  readonly short: string | undefined;
  readonly description: string;
  /** `none` takes no value; `any` takes one that cannot be guessed, or is a file. */
  readonly value: "none" | "any" | readonly string[];
}

/** The commands below and including this one that people see, this one first. */
function listCompletionNodes(command: Command, path: readonly string[] = []): readonly CompletionNode[] {
  // `a2a task help` works, and `a2a help task` is the one that is taught.
  const visible = command
    .createHelp()
    .visibleCommands(command)
    .filter((child) => path.length === 0 || child.name() !== "help");
  return [
    {
      path: path.join(" "),
      commands: visible.map((child) => ({
        word: child.name(),
        description: child.summary() || child.description(),
      })),
      options: command.createHelp().visibleOptions(command).flatMap(toCompletionOption),
    },
    ...visible.flatMap((child) => listCompletionNodes(child, [...path, child.name()])),
  ];
}

function toCompletionOption(option: Option): readonly CompletionOption[] {
  const { long, short, description } = option;
  if (long === undefined) return [];
  const takesValue = option.required || option.optional;
  const choices = option.argChoices ?? settingOptions.find(({ flag }) => `--${flag}` === long)?.choices;
  return [{ long, short, description, value: takesValue ? (choices ?? "any") : "none" }];
}
