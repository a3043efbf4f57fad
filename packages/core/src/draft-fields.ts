import {
  GetTaskRequestSchema,
  SendMessageConfigurationSchema,
  TaskArtifactUpdateEventSchema,
  TaskSchema,
  TaskStatusUpdateEventSchema,
} from "@a2a-connect/proto";
import type { DescField } from "@bufbuild/protobuf";

/**
 * Fields of the A2A 1.1 draft (requirements R), which the proto's comments mark and descriptors cannot tell. They are
 * neither shown to nor taken from callers that did not negotiate 1.1.
 */
export const draftFields: ReadonlySet<DescField> = new Set([
  SendMessageConfigurationSchema.field.ifGenerationMatch,
  TaskSchema.field.generation,
  TaskStatusUpdateEventSchema.field.generation,
  TaskArtifactUpdateEventSchema.field.generation,
  GetTaskRequestSchema.field.currentGeneration,
]);
