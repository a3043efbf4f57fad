import type { Part, StreamResponse, Task } from "@a2a-connect/proto";
import { toBinary } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { ContentTooLargeError } from "../errors.ts";

/** What the artifacts of a followed task weigh. They grow by chunks, none of which is too large by itself. */
export class TaskSize {
  readonly #maxBytes: number;
  readonly #byArtifact = new Map<string, number>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** @throws ContentTooLargeError when the task is too large with it */
  add({ payload }: StreamResponse): void {
    if (payload.case === "task") {
      this.#replaceAll(payload.value);
    } else if (payload.case === "artifactUpdate") {
      const { artifact, append } = payload.value;
      this.#set(artifact?.artifactId ?? "", weigh(artifact?.parts ?? []), append);
    }
    if (this.#bytes > this.#maxBytes) {
      throw new ContentTooLargeError("The task", this.#maxBytes);
    }
  }

  #replaceAll({ artifacts }: Task): void {
    this.#byArtifact.clear();
    this.#bytes = 0;
    for (const { artifactId, parts } of artifacts) {
      this.#set(artifactId, weigh(parts), false);
    }
  }

  #set(artifactId: string, bytes: number, append: boolean): void {
    const known = this.#byArtifact.get(artifactId) ?? 0;
    this.#byArtifact.set(artifactId, append ? known + bytes : bytes);
    this.#bytes += append ? bytes : bytes - known;
  }
}

/** Content alone, about as it is in memory; each part counts for its object, too. */
function weigh(parts: readonly Part[]): number {
  return parts.reduce((sum, { content }) => sum + partBytes + weighContent(content), 0);
}

const partBytes = 16;

function weighContent(content: Part["content"]): number {
  switch (content.case) {
    case "text":
    case "url":
      return content.value.length;
    case "raw":
      return content.value.byteLength;
    case "data":
      return toBinary(ValueSchema, content.value).byteLength;
    case undefined:
      return 0;
  }
}
