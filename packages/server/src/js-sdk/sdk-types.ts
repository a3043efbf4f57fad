// The objects of `@a2a-js/sdk` 1.x, as far as executors publish and read them.
import type { Role, TaskState } from "@a2a-connect/proto";

/** A part: their oneofs have `$case` where ours have `case`, and their data is plain JSON. */
export interface SdkPart {
  readonly content?:
    | { readonly $case: "text" | "url"; readonly value: string }
    | { readonly $case: "raw"; readonly value: Uint8Array<ArrayBuffer> | Uint8Array }
    | { readonly $case: "data"; readonly value: unknown }
    | undefined;
  readonly metadata?: object | undefined;
  readonly mediaType?: string;
  readonly filename?: string;
}

export interface SdkMessage {
  readonly messageId: string;
  readonly taskId: string;
  readonly contextId: string;
  readonly role: Role;
  readonly parts: readonly SdkPart[];
  readonly metadata?: object | undefined;
  readonly extensions: readonly string[];
  readonly referenceTaskIds: readonly string[];
}

/** Their states have the numbers of the proto. */
export interface SdkStatus {
  readonly state: TaskState;
  readonly message?: SdkMessage | undefined;
  /** ISO 8601. */
  readonly timestamp?: string | undefined;
}

export interface SdkArtifact {
  readonly artifactId: string;
  readonly name?: string;
  readonly description?: string;
  readonly parts: readonly SdkPart[];
  readonly metadata?: object | undefined;
  readonly extensions?: readonly string[];
}

export interface SdkTask {
  readonly id: string;
  readonly contextId: string;
  readonly status?: SdkStatus | undefined;
  readonly artifacts?: readonly SdkArtifact[];
  readonly history?: readonly SdkMessage[];
  readonly metadata?: object | undefined;
}

/** What is published on their bus. */
export type SdkEvent =
  | { readonly kind: "message"; readonly data: SdkMessage }
  | { readonly kind: "task"; readonly data: SdkTask }
  | { readonly kind: "statusUpdate"; readonly data: { readonly status?: SdkStatus | undefined } }
  | {
      readonly kind: "artifactUpdate";
      readonly data: {
        readonly artifact?: SdkArtifact;
        readonly append?: boolean;
        readonly lastChunk?: boolean;
      };
    };
