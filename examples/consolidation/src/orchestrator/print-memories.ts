import type { Task } from "@a2a-connect/proto";
import { isObject, readObjects, readText } from "./clash.ts";
import { readData } from "./data-part.ts";

/** What holds now of a worker's memory set, subject by subject, for a terminal. */
export function printMemories({ artifacts }: Task): string {
  const data = readData(artifacts.find(({ artifactId }) => artifactId === "memories")?.parts ?? []);
  const memories = readObjects(isObject(data) ? data["memories"] : undefined);
  const current = memories.filter(({ status }) => status === "current");
  const subjects = Map.groupBy(current, ({ subject }) => readText(subject));
  return [...subjects]
    .flatMap(([subject, known]) => [
      subject,
      ...known.map(
        ({ predicate, value, evidence }) =>
          `  ${readText(predicate).replaceAll("_", " ").padEnd(16)}${readText(value)}  [${sources(evidence)}]`,
      ),
    ])
    .join("\n");
}

/** The numbers of the transcripts, each once: "06, 19, 44". */
function sources(evidence: Parameters<typeof readObjects>[0]): string {
  return [...new Set(readObjects(evidence).map(({ transcript }) => readText(transcript).split("-")[0]))].join(
    ", ",
  );
}
