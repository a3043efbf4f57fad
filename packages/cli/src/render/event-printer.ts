import { formatMessage } from "@a2a-connect/core/internal";
import { type Artifact, type StreamResponse, StreamResponseSchema } from "@a2a-connect/proto";
import { type Output, toText } from "../output.ts";
import {
  artifactTitle,
  joinText,
  renderEvent,
  renderIdentity,
  renderPart,
  renderStatus,
} from "./task-text.ts";

/** Before each line of an agent's text at a terminal, so that none of them looks like a field of ours. */
const indent = "  ";

/**
 * Prints the events of a stream, one after the other: in `json` a line each, in `text` as fields and blocks. At a terminal the text of an
 * artifact grows as it comes, and what has been said of a task is not said again.
 */
export class EventPrinter {
  readonly #output: Output;
  /** The artifact whose text is growing. */
  #growing: { readonly id: string; readonly atLineStart: boolean } | undefined;
  #taskId: string | undefined;

  constructor(output: Output) {
    this.#output = output;
  }

  async print(event: StreamResponse): Promise<void> {
    const output = this.#output;
    await output.event(formatMessage(StreamResponseSchema, event));
    const { payload } = event;
    if (payload.case === "task") this.#taskId = payload.value.id;
    const isUpdate = payload.case === "artifactUpdate" || payload.case === "statusUpdate";
    if (!output.isTerminal || output.verbose || !isUpdate) {
      await this.end();
      return await renderEvent(output, event);
    }
    const { taskId, contextId } = payload.value;
    if (this.#taskId !== taskId) {
      this.#taskId = taskId;
      await renderIdentity(output, taskId, contextId);
    }
    if (payload.case === "statusUpdate") {
      await this.end();
      await renderStatus(output, payload.value.status);
    } else if (payload.value.artifact !== undefined) {
      await this.#printArtifact(payload.value.artifact, payload.value.append);
    }
  }

  /** Ends the line of text that is growing. */
  async end(): Promise<void> {
    if (this.#growing?.atLineStart === false) await this.#output.write("\n");
    this.#growing = undefined;
  }

  async #printArtifact(artifact: Artifact, append: boolean): Promise<void> {
    const output = this.#output;
    if (!append || this.#growing?.id !== artifact.artifactId) {
      await this.end();
      await output.field("Artifact", `${artifactTitle(artifact)}${append ? ", continued" : ""}`);
    }
    for (const part of joinText(artifact.parts)) {
      if (part.content.case === "text") {
        await this.#grow(artifact.artifactId, part.content.value);
      } else {
        await this.end();
        await renderPart(output, part);
      }
    }
  }

  async #grow(id: string, text: string): Promise<void> {
    const { atLineStart = true } = this.#growing ?? {};
    const visible = toText(text);
    if (visible === "") return;
    const lines = visible.replaceAll(/\n(?=.)/gs, `\n${indent}`);
    await this.#output.write(`${atLineStart ? indent : ""}${lines}`);
    this.#growing = { id, atLineStart: visible.endsWith("\n") };
  }
}
