import { invalidParams, type RpcMethod } from "@a2a-connect/core";
import {
  findMissingFields,
  formatMessage,
  isLarge,
  isObject,
  type LazyJson,
  LazyList,
  type LazyObject,
  parseMessage,
  runtimeKey,
} from "@a2a-connect/core/internal";
import { A2AService as OlderService } from "@a2a-connect/proto/a2a/v1";
import type { DescField, DescMessage, DescMethod, JsonValue, Message } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import type { BoundMethod, BoundOperation, CurrentForm } from "../invoke.ts";
import { runInTurns } from "../large-answer.ts";
import { nextSlice } from "../next-slice.ts";
import { bindOlderCalls, type OlderCall, toCurrentHeader } from "./calls.ts";
import { createForms } from "./forms.ts";

/** An operation for callers who write the messages of `a2a.v1`, as protobuf or as its JSON. */
export interface ProtoCall extends Omit<OlderCall, "read"> {
  /** The method of `a2a.v1.A2AService`. */
  readonly desc: DescMethod;
  /**
   * A request in its JSON; a large one in slices (`nextSlice`).
   *
   * @param caller whose request it is
   * @throws ConnectError InvalidArgument that names the wrong fields
   */
  read(json: unknown, maxDepth: number, caller: string | undefined): Promise<Message>;
  /** The same for a message of `a2a.v1`. */
  readonly readMessage: CurrentForm["request"];
}

/** The operations of `a2a.v1.A2AService`. */
export function bindProtoCalls(operations: readonly BoundOperation[]): readonly ProtoCall[] {
  return bindOlderCalls(operations, createForms("proto")).map((call) => {
    const desc: DescMethod = OlderService.method[call.rpc];
    const { input } = desc;
    const readMessage: CurrentForm["request"] = async (older, maxDepth, caller) => {
      const pause = isLarge(older) ? () => nextSlice(caller, "body") : () => {};
      await pause();
      const json = toJson(input, older, maxDepth);
      await pause();
      return call.read(json, maxDepth);
    };
    return {
      ...call,
      desc,
      // The reader of the older message knows other spellings, and names what is wrong as its caller does.
      read: async (json, maxDepth, caller) =>
        readMessage(parseMessage(input, json, { maxDepth }), maxDepth, caller),
      readMessage,
    };
  });
}

/** @throws ConnectError InvalidArgument that names the values which JSON cannot hold, such as NaN in a Struct */
function toJson(desc: DescMessage, message: Message, maxDepth: number): JsonValue {
  try {
    return formatMessage(desc, message);
  } catch (error) {
    const violations = findMissingFields(desc, message, "", maxDepth);
    throw violations.length > 0 ? invalidParams(violations) : error;
  }
}

/** The operations of `a2a.v1.A2AService` for wires that take its messages. */
export function bindProtoOperations(operations: readonly BoundOperation[]): readonly BoundOperation[] {
  return bindProtoCalls(operations).map((call) => {
    const { desc, method, readMessage: request } = call;
    const older = { ...method, name: desc.name, desc, grpcPath: `/${desc.parent.typeName}/${desc.name}` };
    return {
      method: older as RpcMethod, // of another service
      bound: translate(call),
      current: { desc: method.desc, header: toCurrentHeader, request },
    };
  });
}

/** Its requests are of the current version already (`CurrentForm`). */
function translate({ desc, bound, toOlder }: ProtoCall): BoundMethod {
  /** All readers of an event get the same object, which is converted once. */
  const answers = new WeakMap<Message, Message>();
  const answer = async (message: Message, { values }: HandlerContext): Promise<Message> => {
    const { callerNetwork } = values.get(runtimeKey);
    const known =
      answers.get(message) ?? (await runInTurns(readInSteps(desc.output, toOlder(message)), callerNetwork));
    answers.set(message, known);
    return known;
  };
  if (bound.kind === "unary") {
    return {
      kind: "unary",
      desc: desc as typeof bound.desc, // of the same kind
      call: async (request, context) => answer(await bound.call(request, context), context),
    };
  }
  return {
    kind: "stream",
    desc: desc as typeof bound.desc, // of the same kind
    // No generator: it would keep the request, and the event that it has given last.
    call(request, context) {
      const events = bound.call(request, context);
      const leave = async (): Promise<IteratorReturnResult<undefined>> => {
        await events.return?.();
        return { done: true, value: undefined };
      };
      return {
        async next() {
          const next = await events.next();
          if (next.done === true) return next;
          try {
            return { done: false, value: await answer(next.value, context) };
          } catch (error) {
            await leave();
            throw error;
          }
        },
        return: leave,
      };
    },
  };
}

/** A message from its JSON; the elements of lazy lists one by one. It yields about the bytes that it has made. */
function* readInSteps(desc: DescMessage, json: LazyJson): Generator<number, Message> {
  const rest: LazyObject = {};
  const made: [DescField, object][] = [];
  for (const [name, value] of Object.entries(json as LazyObject)) {
    // the JSON of a message
    const field = desc.fields.find(({ jsonName }) => jsonName === name);
    if (field?.message?.typeName === "google.protobuf.Struct" && isObject(value)) {
      yield Number.POSITIVE_INFINITY; // it may have a million values, and is in a message what it is in JSON
      made.push([field, value]);
    } else if (field?.fieldKind === "list" && field.message !== undefined && value instanceof LazyList) {
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
