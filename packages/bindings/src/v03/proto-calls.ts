import type { RpcMethod } from "@a2a-connect/core";
import { formatMessage, parseMessage } from "@a2a-connect/core/internal";
import { A2AService as OlderService } from "@a2a-connect/proto/a2a/v1";
import type { DescMethod, Message } from "@bufbuild/protobuf";
import type { BoundMethod, Operation } from "../invoke.ts";
import { bindOlderCalls, type OlderCall, toCurrentHeader } from "./calls.ts";
import { createForms } from "./forms.ts";

/** An operation for callers who write the messages of `a2a.v1`, as protobuf or as its JSON. */
export interface ProtoCall extends OlderCall {
  /** The method of `a2a.v1.A2AService`. */
  readonly desc: DescMethod;
}

/** The operations of `a2a.v1.A2AService`. */
export function bindProtoCalls(operations: readonly Operation[]): readonly ProtoCall[] {
  return bindOlderCalls(operations, createForms("proto")).map((call) => {
    const desc = OlderService.methods.find(({ name }) => name === call.rpc);
    if (desc === undefined) {
      throw new Error(`a2a.v1.A2AService has no ${call.rpc}`);
    }
    return {
      ...call,
      desc,
      // The reader of the older message knows other spellings, and names what is wrong as its caller does.
      read: (json, maxDepth) =>
        call.read(formatMessage(desc.input, parseMessage(desc.input, json, { maxDepth })), maxDepth),
    };
  });
}

/** The operations of `a2a.v1.A2AService` for wires that take its messages. */
export function bindProtoOperations(
  operations: readonly Operation[],
  maxDepth: number,
): readonly Operation[] {
  return bindProtoCalls(operations).map((call) => {
    const { desc, method } = call;
    const older = { ...method, name: desc.name, desc, grpcPath: `/${desc.parent.typeName}/${desc.name}` };
    return {
      method: older as RpcMethod, // of another service
      bound: translate(call, maxDepth),
      header: toCurrentHeader,
    };
  });
}

function translate({ desc, bound, read, toOlder }: ProtoCall, maxDepth: number): BoundMethod {
  const ask = (request: Message) => read(formatMessage(desc.input, request), maxDepth);
  /** All readers of an event get the same object, and so they do here. */
  const answers = new WeakMap<Message, Message>();
  const answer = (message: Message): Message => {
    const known = answers.get(message) ?? parseMessage(desc.output, toOlder(message));
    answers.set(message, known);
    return known;
  };
  if (bound.kind === "unary") {
    return {
      kind: "unary",
      desc: desc as typeof bound.desc, // of the same kind
      call: async (request, context) => answer(await bound.call(ask(request), context)),
    };
  }
  return {
    kind: "stream",
    desc: desc as typeof bound.desc, // of the same kind
    call(request, context) {
      const open = () => bound.call(ask(request), context);
      let events: ReturnType<typeof open> | undefined;
      return {
        async next() {
          events ??= open();
          const next = await events.next();
          return next.done === true ? next : { done: false, value: answer(next.value) };
        },
        async return() {
          await events?.return?.();
          return { done: true, value: undefined };
        },
      };
    },
  };
}
