import { createFileRegistry, type DescFile } from "@bufbuild/protobuf";
import type { FileDescriptorProto } from "@bufbuild/protobuf/wkt";

/**
 * A file's descriptor from a short text, for pages: it takes a third of the encoded descriptor, and none of the code
 * that decodes one. It has no options and no comments. `pnpm generate` writes the texts (`generate.ts`), a line for each
 * type, in the proto's order:
 *
 *     Task id:9 status:TaskStatus parts:*Part size:?5 payload/text:9 scopes:%9 @7 generation:3
 *     =Role ROLE_UNSPECIFIED ROLE_USER
 *     >A2AService GetTask:GetTaskRequest:Task SubscribeToTask:SubscribeToTaskRequest:*StreamResponse
 *
 * A field has the number after the one before it, or that of the `@` before it. Its type is the number of a scalar, or
 * a name; `*` repeats it, `?` makes it optional, `%` makes it the value of a map whose keys are strings. `/` puts it in a
 * oneof. `=` is an enum, whose values count from 0, `>` a service.
 */
export function compactFile(path: string, text: string, dependencies: readonly DescFile[] = []): DescFile {
  const packageName = path.replace(/\/[^/]+$/, "").replaceAll("/", ".");
  const file = new CompactFile(packageName, text);
  const proto = {
    $typeName: "google.protobuf.FileDescriptorProto",
    name: path,
    package: packageName,
    syntax: "proto3",
    dependency: dependencies.map((each) => each.proto.name),
    extension: [],
    messageType: file.messages,
    enumType: file.enums,
    service: file.services,
  };
  // All that a registry reads of a file: members that are not there are those that are not set.
  const registry = createFileRegistry(proto as unknown as FileDescriptorProto, (name) =>
    dependencies.find((each) => each.proto.name === name),
  );
  return registry.getFile(path) as DescFile; // it was just added
}

interface Message {
  readonly name: string;
  readonly field: object[];
  readonly nestedType: Message[];
  readonly enumType: readonly object[];
  readonly extension: readonly object[];
  readonly oneofDecl: { readonly name: string }[];
  readonly options?: { readonly mapEntry: true };
}

class CompactFile {
  readonly messages: Message[] = [];
  readonly enums: object[] = [];
  readonly services: object[] = [];
  readonly #package: string;
  /** The names of the enums: they are before the messages. */
  readonly #enumNames = new Set<string>();

  constructor(packageName: string, text: string) {
    this.#package = packageName;
    for (const line of text.trim().split("\n")) {
      const [name = "", ...words] = line.trim().split(" ");
      const plain = name.replace(/^[=>]/, "");
      if (name.startsWith("=")) {
        this.enums.push({ name: plain, value: words.map((value, number) => ({ name: value, number })) });
        this.#enumNames.add(plain);
      } else if (name.startsWith(">")) {
        this.services.push({ name: plain, method: words.map((word) => this.#method(word)) });
      } else {
        this.#addMessage(name, words);
      }
    }
  }

  #method(word: string): object {
    const [name, input = "", output = ""] = word.split(":");
    return {
      name,
      inputType: this.#typeName(input),
      outputType: this.#typeName(output.replace("*", "")),
      clientStreaming: false,
      serverStreaming: output.startsWith("*"),
    };
  }

  /** @param path the name after those of the messages around it */
  #addMessage(path: string, words: readonly string[]): void {
    const names = path.split(".");
    const name = names.pop() ?? "";
    const siblings = names.reduce(
      (messages, outer) => messages.find((each) => each.name === outer)?.nestedType ?? [],
      this.messages,
    );
    const message = emptyMessage(name);
    siblings.push(message);
    let number = 0;
    for (const word of words) {
      number = word.startsWith("@") ? Number(word.slice(1)) - 1 : number + 1;
      if (!word.startsWith("@")) {
        this.#addField(message, path, word, number);
      }
    }
  }

  #addField(message: Message, path: string, word: string, number: number): void {
    const [, oneof, name = "", label, type = ""] = /^(?:(\w+)\/)?(\w+):([*?%]?)(.*)$/.exec(word) ?? [];
    if (oneof !== undefined && message.oneofDecl.at(-1)?.name !== oneof) {
      message.oneofDecl.push({ name: oneof });
    }
    const jsonName = name.replace(/_+([a-z\d])/g, (_, letter: string) => letter.toUpperCase());
    message.field.push({
      name,
      jsonName,
      number,
      label: label === "*" || label === "%" ? 3 : 1,
      ...(label === "%" ? this.#mapOf(message, path, name, type) : this.#typeOf(type)),
      ...(label === "?" && { proto3Optional: true }),
      ...(oneof !== undefined && { oneofIndex: message.oneofDecl.length - 1 }),
    });
  }

  #mapOf(message: Message, path: string, name: string, type: string): object {
    const entry = `${name.replace(/(?:^|_)(.)/g, (_, letter: string) => letter.toUpperCase())}Entry`;
    const value = { name: "value", jsonName: "value", number: 2, label: 1, ...this.#typeOf(type) };
    const key = { name: "key", jsonName: "key", number: 1, label: 1, type: 9 };
    message.nestedType.push({ ...emptyMessage(entry), field: [key, value], options: { mapEntry: true } });
    return { type: 11, typeName: this.#typeName(`${path}.${entry}`) };
  }

  #typeOf(type: string): object {
    return /^\d/.test(type)
      ? { type: Number(type) }
      : { type: this.#enumNames.has(type) ? 14 : 11, typeName: this.#typeName(type) };
  }

  /** A name that begins with a point is complete. */
  #typeName(name: string): string {
    return name.startsWith(".") ? name : `.${this.#package}.${name}`;
  }
}

function emptyMessage(name: string): Message {
  return { name, field: [], nestedType: [], enumType: [], extension: [], oneofDecl: [] };
}
