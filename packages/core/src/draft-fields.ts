import {
  GetTaskRequestSchema,
  SendMessageConfigurationSchema,
  TaskArtifactUpdateEventSchema,
  TaskSchema,
  TaskStatusUpdateEventSchema,
} from "@a2a-connect/proto";
import type { DescField } from "@bufbuild/protobuf";

/**
 * Fields of the A2A 1.1 draft (requirements R). The proto marks them in comments, which descriptors do not contain. The
 * server neither shows them to callers that did not negotiate 1.1, nor takes them from such callers.
 */
export const draftFields: ReadonlySet<DescField> = new Set([
  SendMessageConfigurationSchema.field.ifGenerationMatch,
  TaskSchema.field.generation,
  TaskStatusUpdateEventSchema.field.generation,
  TaskArtifactUpdateEventSchema.field.generation,
  GetTaskRequestSchema.field.currentGeneration,
]);
