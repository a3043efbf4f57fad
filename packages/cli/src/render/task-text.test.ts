import { agentMessage, bytes, fileUrl, json, lifecycleExtension, text, userMessage } from "@a2a-connect/core";
import {
  ArtifactSchema,
  type Part,
  PartSchema,
  type StreamResponse,
  StreamResponseSchema,
  TaskSchema,
  TaskState,
} from "@a2a-connect/proto";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { describe, expect, it } from "vitest";
import { createOutput, type Output } from "../output.ts";
import { progressBar, renderArtifact, renderEvent, renderMessage, renderTask } from "./task-text.ts";

async function rendered(
  render: (output: Output) => Promise<void>,
  { verbose = false, format = "text" as "text" | "json" } = {},
): Promise<string> {
  let written = "";
  const sink = {
    isTerminal: false,
    write: async (chunk: string) => {
      written += chunk;
    },
  };
  await render(createOutput({ stdout: sink, stderr: sink }, { output: format, stream: false, verbose }));
  return written;
}

const parts: readonly Part[] = [
  text("words"),
  json({ a: [1, null] }),
  bytes(new Uint8Array(12), { filename: "x.bin", mediaType: "application/x-x" }),
  bytes(new Uint8Array(1)),
  fileUrl("https://h/y.pdf", { filename: "y.pdf", mediaType: "application/pdf" }),
  create(PartSchema),
];
const shownParts = `Text:
words

Data:
{
  "a": [
    1,
    null
  ]
}

File: x.bin, application/x-x, 12 bytes
File: unnamed, type unknown, 1 bytes
File: y.pdf, application/pdf, size unknown, at https://h/y.pdf
Part: empty, or of a kind that this version does not know
`;

const task = create(TaskSchema, {
  id: "t-1",
  contextId: "c-1",
  status: {
    state: TaskState.FAILED,
    timestamp: timestampFromDate(new Date(0)),
    message: agentMessage("It broke.", {
      messageId: "m-2",
      metadata: { [lifecycleExtension]: { reason: "on-purpose", progress: 0.25 } },
    }),
  },
  artifacts: [{ artifactId: "a-1", name: "report", description: "All of it", parts: [text("one ")] }],
  history: [userMessage("Do it.", { messageId: "m-1" })],
});

describe("what is rendered of a task (A2ACLI_SEND_004)", () => {
  it("is every part of an artifact, none discarded", async () => {
    const artifact = create(ArtifactSchema, { artifactId: "a-1", parts: [...parts] });
    expect(await rendered((output) => renderArtifact(output, artifact))).toBe(`Artifact: a-1\n${shownParts}`);
  });

  it("is every part of a message", async () => {
    const message = agentMessage(parts, { messageId: "m-1", contextId: "c-1" });
    expect(await rendered((output) => renderMessage(output, message))).toBe(
      `Message: m-1\nFrom: agent\nContext: c-1\n${shownParts}`,
    );
  });

  it("is identifiers, state, reason, what was said last, and artifacts", async () => {
    expect(await rendered((output) => renderTask(output, task))).toBe(`Task: t-1
Context: c-1
State: TASK_STATE_FAILED
Reason: on-purpose
Progress: 25 %
Text:
It broke.

Artifact: report (a-1)
Description: All of it
Text:
one 

`);
  });

  it("is history, times and metadata as well with --verbose", async () => {
    const shown = await rendered((output) => renderTask(output, task), { verbose: true });
    expect(shown).toContain("Updated: 1970-01-01T00:00:00.000Z\n");
    expect(shown).toContain("Message: m-1\nFrom: user\n");
    expect(shown).toContain(`Message Metadata:\n{\n  "${lifecycleExtension}"`);
  });

  it("is history when it was asked for", async () => {
    expect(await rendered((output) => renderTask(output, task, true))).toContain("Do it.");
  });

  it("is text in one piece, where an artifact came in chunks", async () => {
    const chunks = create(ArtifactSchema, {
      artifactId: "a-1",
      parts: [text("Hel"), text("lo"), json(1), text("!")],
    });
    expect(await rendered((output) => renderArtifact(output, chunks))).toBe(
      "Artifact: a-1\nText:\nHello\n\nData:\n1\n\nText:\n!\n\n",
    );
  });

  it("is a state as it came, also one that nobody knows", async () => {
    for (const [state, shown] of [
      [TaskState.UNSPECIFIED, "TASK_STATE_UNSPECIFIED"],
      [77 as TaskState, "77"], // a newer agent's
    ] as const) {
      const odd = create(TaskSchema, { id: "t-1", contextId: "c-1", status: { state } });
      expect(await rendered((output) => renderTask(output, odd))).toContain(`State: ${shown}\n`);
    }
  });

  const identity = { taskId: "t-1", contextId: "c-1" };
  const events: readonly [MessageInitShape<typeof StreamResponseSchema>["payload"], string][] = [
    [{ case: "task", value: task }, "Task: t-1\nContext: c-1\nState: TASK_STATE_FAILED\n"],
    [
      { case: "message", value: agentMessage("Hi.", { messageId: "m-1" }) },
      "Message: m-1\nFrom: agent\nText:\nHi.\n\n",
    ],
    [
      { case: "statusUpdate", value: { ...identity, status: { state: TaskState.WORKING } } },
      "Task: t-1\nContext: c-1\nState: TASK_STATE_WORKING\n",
    ],
    [
      {
        case: "artifactUpdate",
        value: { ...identity, append: true, artifact: { artifactId: "a-1", parts: [text("more")] } },
      },
      "Task: t-1\nContext: c-1\nArtifact: a-1, continued\nText:\nmore\n\n",
    ],
    [undefined, "warning: the agent sent an event without content\n"],
  ];
  for (const [payload, shown] of events) {
    it(`is an event of a stream: ${payload?.case ?? "nothing"}`, async () => {
      const event: StreamResponse = create(StreamResponseSchema, payload === undefined ? {} : { payload });
      const written = await rendered((output) => renderEvent(output, event));
      expect(written.slice(0, shown.length)).toBe(shown);
    });
  }

  it("is nothing in json, where the protocol's own JSON is the output", async () => {
    expect(await rendered((output) => renderTask(output, task), { format: "json" })).toBe("");
  });
});

describe("a progress bar", () => {
  for (const [fraction, bar] of [
    [0, "░░░░░░░░░░░░░░░░░░░░   0%"],
    [0.5, "██████████░░░░░░░░░░  50%"],
    [0.999, "███████████████████░  99%"],
    [1, "████████████████████ 100%"],
    [7, "████████████████████ 100%"],
    [-1, "░░░░░░░░░░░░░░░░░░░░   0%"],
  ] as const) {
    it(`shows ${fraction}`, () => expect(progressBar(fraction)).toBe(bar));
  }
});
