import { json, text } from "@a2a-connect/core";
import { type Artifact, ArtifactSchema, type Part } from "@a2a-connect/proto";
import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { UntrustedOutputError } from "../errors.ts";
import { saveParts } from "./save-parts.ts";

const artifactOf = (parts: Part[], name = "rows"): Artifact =>
  create(ArtifactSchema, { artifactId: "a\u001b[2J", name, parts });

function createFiles() {
  const names: string[] = [];
  return {
    names,
    services: {
      maxBytes: 1024,
      filesOfTask: new Map(),
      saveFile: async (_: string, name: string) => {
        names.push(name);
        return name;
      },
    },
  };
}

describe("an artifact of many parts", () => {
  it("becomes up to a thousand files", async () => {
    const { names, services } = createFiles();
    const parts = Array.from({ length: 1_000 }, (_, index) => json(index));
    expect(await saveParts(artifactOf(parts), "/out", services)).toHaveLength(1_000);
    expect(names).toHaveLength(1_000);
  });

  it("is refused before anything is written when it would become more", async () => {
    const { names, services } = createFiles();
    const parts = Array.from({ length: 1_001 }, (_, index) => json(index));
    const thrown: unknown = await saveParts(artifactOf(parts), "/out", services).catch((error) => error);
    expect(thrown).toBeInstanceOf(UntrustedOutputError);
    expect(thrown).toMatchObject({
      message:
        'with artifact "rows", the files of its task would be 1001, which is more than the limit of 1000',
      hint: expect.stringContaining("parts"),
    });
    expect(names).toEqual([]);
  });

  it("counts files, not the chunks that they come in", async () => {
    const { names, services } = createFiles();
    const parts = Array.from({ length: 5_000 }, () => text("x"));
    expect(await saveParts(artifactOf(parts), "/out", services)).toHaveLength(1);
    expect(names).toEqual(["rows.txt"]);
  });
});

describe("the artifacts of one task", () => {
  it("become a thousand files together", async () => {
    const { names, services } = createFiles();
    const save = (name: string) => saveParts(artifactOf([text("x")], name), "/out", services);
    for (let index = 0; index < 1_000; index += 1) await save(`f${index}`);
    await expect(save("more")).rejects.toThrow(
      'with artifact "more", the files of its task would be 1001, which is more than the limit of 1000',
    );
    expect(names).toHaveLength(1_000);
    expect(await saveParts(artifactOf([]), "/out", services)).toEqual([]);
  });

  it("count once, however often they are saved", async () => {
    const { names, services } = createFiles();
    const artifact = artifactOf(Array.from({ length: 600 }, (_, index) => json(index)));
    await saveParts(artifact, "/one", services);
    await saveParts(artifact, "/two", services);
    expect(names).toHaveLength(1_200);
  });
});
