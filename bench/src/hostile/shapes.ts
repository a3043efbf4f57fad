/** A message that is as large, in some way, as the server's limits allow, or larger. */
export interface Shape {
  readonly name: string;
  /** Whether the server is to take it; a request beyond a limit has to be refused. */
  readonly allowed: boolean;
  /** The message as ProtoJSON, which need not be compact. */
  readonly message: () => string;
  /** Whether it can be said in protobuf too; what only a text can have (white space, escapes) cannot. */
  readonly binary: boolean;
  /** Whether it is sent with gzip. */
  readonly gzip?: boolean;
}

/** The limits that the shapes are made for: the defaults of docs/limits.md. */
export const maxValues = 120_000;
const maxBytes = 16 * 2 ** 20;
/** What the rest of the request takes of both limits. */
const spare = 1_000;
const values = maxValues - spare;
const bytes = maxBytes - 16 * spare;

/** Every shape that is sent, each over all wires that can say it. */
export const shapes: readonly Shape[] = [
  data("numbers", () => list(values, (index) => String(index * 1.5))),
  data("rows of 10 columns", () => list(values / 21, (row) => object(10, (column) => `c${column}`, row))),
  data("lists, 90 deep", () => list(values / 90, () => "[".repeat(89) + "]".repeat(89))),
  data("one object", () => object(values / 2, (index) => `k${index}`, 0)),
  data("objects, 10 own names each", () =>
    list(values / 21, (row) => object(10, (column) => `k${row}_${column}`, 0)),
  ),
  data("objects, 1 own name each", () => list(values / 3, (row) => object(1, () => `k${row}`, 0))),
  {
    name: "metadata, one object",
    allowed: true,
    binary: true,
    message: () => wrap('{"text":"task x"}', `"metadata":${object(values / 2, (index) => `k${index}`, 0)}`),
  },
  {
    name: "unknown members",
    allowed: true,
    binary: false,
    message: () => wrap('{"text":"task x"}', `"unknown":${object(values / 2, (index) => `k${index}`, 0)}`),
  },
  text("text of 16 MiB", true, () => "x".repeat(bytes)),
  text("text of 16 MiB, two bytes a letter", true, () => "é".repeat(bytes / 2)),
  text("text of 16 MiB in escapes", false, () => "\\u0041".repeat(bytes / 6)),
  {
    name: "raw of 12 MiB",
    allowed: true,
    binary: true,
    message: () => wrap(`{"text":"task x"},{"raw":"${"QUJD".repeat(bytes / 4)}","mediaType":"text/plain"}`),
  },
  {
    name: "16 MiB of white space",
    allowed: true,
    binary: false,
    message: () => wrap(`${" \n".repeat(bytes / 2)}{"text":"task x"}`),
  },
  { ...data("numbers, gzip", () => list(values, (index) => String(index * 1.5))), gzip: true },
  refused("16 MiB of zeros", () => list(bytes / 2, () => "0")),
  refused("16 MiB of lists, 90 deep", () => list(bytes / 180, () => "[".repeat(89) + "]".repeat(89))),
  {
    ...refused("the same, gzip", () => list(bytes / 180, () => "[".repeat(89) + "]".repeat(89))),
    gzip: true,
  },
  refused("1,000,000 member names", () => object(1_000_000, (index) => `k${index}`, 0)),
];

function data(name: string, value: () => string): Shape {
  return { name, allowed: true, binary: true, message: () => wrap(`{"text":"task x"},{"data":${value()}}`) };
}

function refused(name: string, value: () => string): Shape {
  return { ...data(name, value), name: `refused: ${name}`, allowed: false };
}

function text(name: string, binary: boolean, content: () => string): Shape {
  return {
    name,
    allowed: true,
    binary,
    message: () => wrap(`{"text":"task x"},{"text":"${content()}"}`),
  };
}

function wrap(parts: string, more = ""): string {
  return `{"messageId":"hostile","role":"ROLE_USER","parts":[${parts}]${more === "" ? "" : `,${more}`}}`;
}

function list(count: number, element: (index: number) => string): string {
  return `[${Array.from({ length: Math.floor(count) }, (_, index) => element(index)).join(",")}]`;
}

function object(count: number, name: (index: number) => string, value: number): string {
  const members = Array.from({ length: Math.floor(count) }, (_, index) => `"${name(index)}":${value}`);
  return `{${members.join(",")}}`;
}
