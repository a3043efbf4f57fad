import type { Command } from "commander";
import { type CompletionNode, type CompletionOption, listCompletionNodes } from "./completion-tree.ts";
import { createFishScript } from "./fish-script.ts";

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
  return uniqueOptions(nodes)
    .filter(({ value }) => value === "any")
    .flatMap(flagsOf);
}

function valueFlags(nodes: readonly CompletionNode[]): readonly string[] {
  return uniqueOptions(nodes)
    .filter(({ value }) => value !== "none")
    .flatMap(flagsOf);
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
