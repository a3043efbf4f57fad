import type { CompletionNode, CompletionOption } from "./completion-tree.ts";

/** The script for fish. */
export function createFishScript(nodes: readonly CompletionNode[]): string {
  const paths = nodes.map(({ path }) => path).filter((path) => path !== "");
  const lines = nodes.flatMap((node) => {
    const condition = `-n ${quote(`test (__a2a_at | string collect) = ${quote(node.path)}`)}`;
    return [
      ...node.commands.map(
        ({ word, description }) => `complete -c a2a -f ${condition} -a ${word} -d ${quote(description)}`,
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
  if (value !== "none") parts.push(value === "any" ? "-r" : `-x -a ${quote(value.join(" "))}`);
  return [...parts, `-d ${quote(description)}`].join(" ");
}

function quote(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
