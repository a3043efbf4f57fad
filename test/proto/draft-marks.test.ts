import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fromBinary } from "@bufbuild/protobuf";
import { type FileDescriptorProto, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { expect, it } from "vitest";
import { runBuf } from "./run-buf.ts";
import { readWireDelta } from "./wire-facts.ts";

/** The proto with its comments, which the generated descriptors do not carry. */
async function buildWithComments(): Promise<FileDescriptorProto | undefined> {
  const scratch = await mkdtemp(join(tmpdir(), "a2a-connect-image-"));
  try {
    const image = join(scratch, "image.binpb");
    await runBuf("build", "proto", "--output", image);
    const { file } = fromBinary(FileDescriptorSetSchema, await readFile(image));
    return file.find(({ name }) => name === "lf/a2a/v1/a2a.proto");
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** The comment above a field, by the field's path in descriptor.proto: message_type = 4, field = 2. */
function commentOf(file: FileDescriptorProto, message: number, field: number): string {
  const path = [4, message, 2, field].join();
  return (
    file.sourceCodeInfo?.location.find((location) => location.path.join() === path)?.leadingComments ?? ""
  );
}

it("marks the fields of the A2A 1.1 draft, and no others, as a draft", async () => {
  const file = await buildWithComments();
  expect(file).toBeDefined();
  const marked = file?.messageType.flatMap((message, m) =>
    message.field
      .filter((_, f) => file && commentOf(file, m, f).includes("\n Draft of A2A 1.1;"))
      .map((field) => `${message.name}.${field.name}`),
  );
  const drafts = Object.entries(readWireDelta().addedFields).flatMap(([message, fields]) =>
    fields.map((field) => `${message}.${field.name}`),
  );
  expect(drafts).not.toHaveLength(0);
  expect(marked?.sort()).toStrictEqual(drafts.sort());
});
