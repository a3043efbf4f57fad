import { methods } from "@a2a-connect/core";
import { SendMessageRequestSchema } from "@a2a-connect/proto/a2a/v1";
import { create } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { expect, it } from "vitest";
import type { BoundOperation } from "../invoke.ts";
import { bindProtoCalls } from "./proto-calls.ts";

const operations: readonly BoundOperation[] = [
  {
    method: methods.sendMessage,
    bound: {
      kind: "unary",
      desc: methods.sendMessage.desc as never,
      call: () => expect.fail("it is refused"),
    },
  },
];

it.each([Number.NaN, Number.POSITIVE_INFINITY])(
  "a number of metadata that JSON cannot hold is refused by its field: %s",
  async (number) => {
    const [send] = bindProtoCalls(operations);
    const request = create(SendMessageRequestSchema, {
      request: { messageId: "m", metadata: { list: [1, number] } },
    });
    await expect(send?.readMessage(request, 100, "alice")).rejects.toMatchObject({
      code: Code.InvalidArgument,
      rawMessage: "message.metadata.list[1]: must be a finite number",
    });
  },
);
