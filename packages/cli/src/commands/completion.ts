import { Argument, type Command, CommanderError } from "commander";
import type { AddCommand } from "../command.ts";
import type { CommandContext } from "../context.ts";
import { settingOptions } from "../options.ts";

/** Scripts that ask this command what may follow the words of a line. Where nothing may, the shell offers files. */
const scripts = {
  bash: `# bash completion of a2a: source <(a2a completion bash)
_a2a() {
  local IFS=$'\\n' cur="\${COMP_WORDS[COMP_CWORD]}"
  COMPREPLY=($(compgen -W "$("\${COMP_WORDS[0]}" __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1)" -- "$cur"))
}
complete -o default -F _a2a a2a
`,
  zsh: `#compdef a2a
# zsh completion of a2a: source <(a2a completion zsh)
_a2a() {
  local tab=$'\\t'
  local -a entries
  entries=("\${(@f)$("$words[1]" __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  [ -n "$entries" ] || { _files; return; }
  entries=(\${entries//:/\\\\:})
  entries=(\${entries/$tab/:})
  _describe a2a entries || _files
}
if [ "$funcstack[1]" = "_a2a" ]; then _a2a "$@"; else compdef _a2a a2a; fi
`,
  fish: `# fish completion of a2a: a2a completion fish | source
function __a2a
  set -l typed (commandline -opc)
  set -l current (commandline -ct)
  set -g __a2a_entries (a2a __complete -- $typed[2..-1] "$current" 2>/dev/null)
  test (count $__a2a_entries) -gt 0
end
complete -c a2a -f -n __a2a -a '(printf "%s\\n" $__a2a_entries)'
`,
} as const;

/** `a2a completion SHELL`: a script that completes commands, options and their values. */
export const addCompletion: AddCommand = (program, setAction) => {
  const command = program
    .command("completion")
    .description("Print a completion script: source <(a2a completion bash)")
    .addArgument(new Argument("<shell>", "which shell").choices(Object.keys(scripts)));
  setAction(command, async () => writeScript, "local");
  program
    .command("__complete", { hidden: true })
    .argument("[words...]")
    .action((words: readonly string[]) => {
      const lines = findCompletions(program, words).map((entry) => `${entry.join("\t")}\n`);
      // Printed as help is: nothing that is wrong with the settings gets into it.
      program.configureOutput().writeOut?.(lines.join(""));
      throw new CommanderError(0, "a2a.complete", "completed");
    });
};

async function writeScript({ io }: CommandContext, shell: keyof typeof scripts): Promise<void> {
  await io.stdout.write(scripts[shell]);
}

/** What may stand in place of the last of these words, which follow `a2a`, each with what it is for. */
function findCompletions(program: Command, words: readonly string[]): readonly (readonly string[])[] {
  let command = program;
  let awaited: readonly string[] | undefined; // the values of the option before a word
  for (const word of words.slice(0, -1)) {
    const isValue = awaited !== undefined;
    awaited = isValue ? undefined : valuesAfter(command, word);
    if (!isValue) command = command.commands.find((child) => child.name() === word) ?? command;
  }
  if (awaited !== undefined) return awaited.map((value) => [value]);
  const help = command.createHelp();
  // `a2a task help` works, and `a2a help task` is the one that is taught.
  const children = help
    .visibleCommands(command)
    .filter((child) => command === program || child.name() !== "help");
  return [
    ...children.map((child) => [child.name(), child.summary() || child.description()]),
    ...help.visibleOptions(command).map(({ long, description }) => [long ?? "", description]),
  ];
}

/** The values that an option may have, none where these cannot be listed; undefined for what takes no value. */
function valuesAfter(command: Command, word: string): readonly string[] | undefined {
  const option = command.options.find(({ long, short }) => long === word || short === word);
  if (option === undefined || !(option.required || option.optional)) return undefined;
  return option.argChoices ?? settingOptions.find(({ flag }) => `--${flag}` === option.long)?.choices ?? [];
}
