import { json, text } from "@a2a-connect/core";
import { type Artifact, ArtifactSchema, type Part } from "@a2a-connect/proto";
import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { UntrustedOutputError } from "../errors.ts";
import { saveParts } from "./save-parts.ts";

const artifactOf = (parts: Part[]): Artifact =>
  create(ArtifactSchema, { artifactId: "a\u001b[2J", name: "rows", parts });

function createFiles() {
  const names: string[] = [];
  return {
    names,
    services: {
      maxBytes: 1024,
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
      message: 'artifact "rows" would become 1001 files, which is more than the limit of 1000',
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
