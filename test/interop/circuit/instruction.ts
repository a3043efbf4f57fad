import {
  createFileRegistry,
  fromBinary,
  fromJson,
  type JsonValue,
  toBinary,
  toJson,
} from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";

/** What an agent of the circuit is told to do: `itk.Instruction` as JSON. */
export type Instruction =
  | { readonly callAgent: CallAgent }
  | { readonly returnResponse: { readonly response: string; readonly holdTask?: boolean } }
  | { readonly steps: { readonly instructions: readonly Instruction[] } };

/** Call the next agent. */
export interface CallAgent {
  readonly transport: string;
  readonly agentCardUri: string;
  readonly instruction: Instruction;
  readonly streaming?: boolean;
  readonly pushNotification?: { readonly url: string };
  readonly resubscribe?: Readonly<Record<never, never>>;
}

/** Where an instruction is in a message. */
export const instructionPart = { filename: "instruction.bin", mediaType: "application/x-protobuf" } as const;

/** The last line of what a task says that is held. */
export const finished = "task-finished";

/** Reads and writes instructions. */
export interface InstructionCodec {
  encode(instruction: Instruction): Uint8Array;
  decode(bytes: Uint8Array): Instruction;
}

/** @param descriptors `buf build` of the folder with `instruction.proto` */
export function createInstructionCodec(descriptors: Uint8Array): InstructionCodec {
  const type = createFileRegistry(fromBinary(FileDescriptorSetSchema, descriptors)).getMessage(
    "itk.Instruction",
  );
  if (type === undefined) throw new Error("the descriptors have no itk.Instruction");
  return {
    encode: (instruction) => toBinary(type, fromJson(type, instruction as JsonValue)), // which it is
    decode: (bytes) => toJson(type, fromBinary(type, bytes)) as unknown as Instruction, // as the proto has it
  };
}
