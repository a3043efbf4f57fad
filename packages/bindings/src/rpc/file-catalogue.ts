import { createRegistry, type DescFile, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";

/** Serialized files with all their imports, each file before those that import it. Undefined for unknown names. */
export interface FileCatalogue {
  byName(name: string): Uint8Array[] | undefined;
  /** @param symbol full name of a service, method, message, field, oneof, enum, enum value or extension */
  bySymbol(symbol: string): Uint8Array[] | undefined;
  byExtension(extendee: string, number: number): Uint8Array[] | undefined;
  /** Numbers of the known extensions of a message. */
  extensionNumbers(extendee: string): number[] | undefined;
}

/** A catalogue of these files and all their imports. */
export function createFileCatalogue(roots: readonly DescFile[]): FileCatalogue {
  const files = closure(roots);
  const registry = createRegistry(...files);
  const extensions = [...registry].filter((type) => type.kind === "extension");

  function findFile(symbol: string): DescFile | undefined {
    const type = registry.get(symbol);
    if (type !== undefined) {
      return type.file;
    }
    const owner = registry.get(symbol.slice(0, Math.max(0, symbol.lastIndexOf("."))));
    const name = symbol.slice(symbol.lastIndexOf(".") + 1);
    if (owner !== undefined && hasMember(owner, name)) {
      return owner.file;
    }
    // The full name of an enum value is beside that of its enum, not below it.
    return [...registry].find(
      (candidate) =>
        candidate.kind === "enum" &&
        candidate.values.some((value) => siblingName(candidate.typeName, value.name) === symbol),
    )?.file;
  }

  return {
    byName: (name) => serialize(files.find((file) => file.proto.name === name)),
    bySymbol: (symbol) => serialize(findFile(symbol)),
    byExtension: (extendee, number) =>
      serialize(
        extensions.find((type) => type.extendee.typeName === extendee && type.number === number)?.file,
      ),
    extensionNumbers: (extendee) =>
      registry.getMessage(extendee) &&
      extensions.filter((type) => type.extendee.typeName === extendee).map(({ number }) => number),
  };
}

type NamedType = NonNullable<ReturnType<ReturnType<typeof createRegistry>["get"]>>;

function hasMember(owner: NamedType, name: string): boolean {
  switch (owner.kind) {
    case "service":
      return owner.methods.some((method) => method.name === name);
    case "message":
      return [...owner.fields, ...owner.oneofs].some((member) => member.name === name);
    default:
      return false;
  }
}

function siblingName(typeName: string, name: string): string {
  return `${typeName.slice(0, typeName.lastIndexOf(".") + 1)}${name}`;
}

function serialize(file: DescFile | undefined): Uint8Array[] | undefined {
  return file && closure([file]).map(({ proto }) => toBinary(FileDescriptorProtoSchema, proto));
}

/** These files and all their imports, each once, imports first. */
function closure(roots: readonly DescFile[]): DescFile[] {
  const files = new Set<DescFile>();
  const visit = (file: DescFile): void => {
    file.dependencies.forEach(visit);
    files.add(file);
  };
  roots.forEach(visit);
  return [...files];
}
