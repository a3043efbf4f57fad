import type { RpcMethod } from "@a2a-connect/core";
import {
  formatMessage,
  isLarge,
  isObject,
  type LazyJson,
  LazyList,
  type LazyObject,
  parseMessage,
} from "@a2a-connect/core/internal";
import { A2AService as OlderService } from "@a2a-connect/proto/a2a/v1";
import type { DescField, DescMessage, DescMethod, Message } from "@bufbuild/protobuf";
import type { BoundMethod, Operation } from "../invoke.ts";
import { runInTurns } from "../large-answer.ts";
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
  const answer = async (message: Message): Promise<Message> => {
    const known = answers.get(message) ?? (await runInTurns(readInSteps(desc.output, toOlder(message))));
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
          return next.done === true ? next : { done: false, value: await answer(next.value) };
        },
        async return() {
          await events?.return?.();
          return { done: true, value: undefined };
        },
      };
    },
  };
}

/** A message from its JSON; the elements of lazy lists one by one. It yields about the bytes that it has made. */
function* readInSteps(desc: DescMessage, json: LazyJson): Generator<number, Message> {
  const rest: LazyObject = {};
  const made: [DescField, Message | Message[]][] = [];
  for (const [name, value] of Object.entries(json as LazyObject)) {
    // the JSON of a message
    const field = desc.fields.find(({ jsonName }) => jsonName === name);
    if (field?.fieldKind === "list" && field.message !== undefined && value instanceof LazyList) {
      const elements: Message[] = [];
      for (let index = 0; index < value.length; index++) {
        const element = yield* readInSteps(field.message, value.at(index));
        elements.push(element);
        yield isLarge(element, largeElement) ? Number.POSITIVE_INFINITY : elementBytes;
      }
      made.push([field, elements]);
    } else if (field?.fieldKind === "message" && isOurs(field.message) && isObject(value)) {
      made.push([field, yield* readInSteps(field.message, value as LazyObject)]);
    } else {
      rest[name] = value;
    }
  }
  const message = parseMessage(desc, rest) as Message & Record<string, unknown>; // by its descriptor
  for (const [{ localName, oneof }, value] of made) {
    message[oneof?.localName ?? localName] = oneof === undefined ? value : { case: localName, value };
  }
  return message;
}

/** Whether the JSON of a message has the form of the message. */
function isOurs({ file }: DescMessage): boolean {
  return file.proto.package !== "google.protobuf";
}

/** What an element weighs for which a turn of its own is right, in bytes. */
const largeElement = 16 * 1024;

/** What any other counts, its objects included. */
const elementBytes = 512;
