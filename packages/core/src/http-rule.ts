import type { DescMessage } from "@bufbuild/protobuf";

/** One HTTP verb and path of a method, from a `google.api.http` rule. */
export interface HttpRoute {
  /** HTTP method in upper case. */
  readonly verb: string;
  /** The path as the proto writes it, such as `/tasks/{id=*}:cancel`. */
  readonly template: string;
  /** `"*"` when a body carries the request, undefined when there is none. */
  readonly body: "*" | undefined;
  /** Local names of the request's fields that the path carries, in path order. */
  readonly variables: readonly string[];
  /** The template's literal segments in order; undefined is a variable. */
  readonly segments: readonly (string | undefined)[];
  /** The part after the colon of the last segment, or undefined. */
  readonly suffix: string | undefined;
  /**
   * The decoded variables of a request path (percent-encoded, no query); undefined when the path does not match this
   * route. A variable is one whole, non-empty segment. In a route with a suffix the last colon begins the suffix; in
   * other routes a colon is an ordinary character.
   */
  match(path: string): Readonly<Record<string, string>> | undefined;
  /**
   * The percent-encoded path for these variables. Undefined when a variable is missing, empty, not valid Unicode, or a
   * dot segment, which URLs cannot carry.
   */
  expand(variables: Readonly<Record<string, string>>): string | undefined;
}

/** The parts of a rule that make a route. */
export interface HttpRuleParts {
  readonly verb: string;
  readonly template: string;
  readonly body: string;
}

/**
 * Compile one `google.api.http` rule for requests of type `input`.
 *
 * @throws Error for templates and bodies that no A2A rule uses (`**`, variables of several segments, single body
 *   fields): a new proto that needs them fails at start-up instead of routing wrongly
 */
export function compileHttpRule(input: DescMessage, { verb, template, body }: HttpRuleParts): HttpRoute {
  if (body !== "" && body !== "*") {
    throw new Error(`${input.typeName}: body "${body}" of ${template} is not supported`);
  }
  const { path, suffix } = splitSuffix(template);
  const names = path.map((segment) => parseVariable(input, segment, template));
  const segments = path.map((segment, index) => (names[index] === undefined ? segment : undefined));
  const variables = names.filter((name) => name !== undefined);
  const pattern = new RegExp(
    `^${segments.map((segment) => `/${segment === undefined ? "([^/]+)" : escapeRegExp(segment)}`).join("")}${
      suffix === undefined ? "" : `:${escapeRegExp(suffix)}`
    }$`,
  );
  return {
    verb,
    template,
    body: body === "*" ? "*" : undefined,
    variables,
    segments,
    suffix,
    match: (requestPath) => decodeVariables(variables, pattern.exec(requestPath)),
    expand: (values) => expandPath(path, names, suffix, values),
  };
}

function splitSuffix(template: string): { path: string[]; suffix: string | undefined } {
  const match = /^((?:\/(?:[^/{}:]+|\{\w+(?:=\*)?\}))+)(?::([^/{}:]+))?$/.exec(template);
  if (match?.[1] === undefined) {
    throw new Error(`the path template ${template} is not supported`);
  }
  return { path: match[1].slice(1).split("/"), suffix: match[2] };
}

/** The field's local name of `{field}` or `{field=*}`, or undefined for a literal segment. */
function parseVariable(input: DescMessage, segment: string, template: string): string | undefined {
  if (!segment.startsWith("{")) {
    return undefined;
  }
  const name = segment.slice(1, -1).replace(/=\*$/, "");
  const field = input.fields.find((candidate) => candidate.name === name);
  if (field === undefined) {
    throw new Error(`the path template ${template} names no field of ${input.typeName}`);
  }
  return field.localName;
}

function decodeVariables(
  variables: readonly string[],
  match: RegExpExecArray | null,
): Record<string, string> | undefined {
  if (match === null) {
    return undefined;
  }
  const decoded: Record<string, string> = {};
  for (const [index, name] of variables.entries()) {
    const value = decodeSegment(match[index + 1] ?? "");
    if (value === undefined) {
      return undefined;
    }
    decoded[name] = value;
  }
  return decoded;
}

/** A segment without its percent-encoding; undefined when that is not valid UTF-8. */
function decodeSegment(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

function expandPath(
  path: readonly string[],
  names: readonly (string | undefined)[],
  suffix: string | undefined,
  values: Readonly<Record<string, string>>,
): string | undefined {
  let expanded = "";
  for (const [index, literal] of path.entries()) {
    const name = names[index];
    const segment = name === undefined ? literal : encodeSegment(values[name]);
    if (segment === undefined) {
      return undefined;
    }
    expanded += `/${segment}`;
  }
  return suffix === undefined ? expanded : `${expanded}:${suffix}`;
}

/** Whether a URL path can carry this text as one segment. */
export function fitsSegment(value: string | undefined): value is string {
  // URL parsers resolve "." and ".." even when their dots are percent-encoded.
  return value !== undefined && value !== "" && value !== "." && value !== ".." && value.isWellFormed();
}

function encodeSegment(value: string | undefined): string | undefined {
  return fitsSegment(value) ? encodeURIComponent(value) : undefined;
}

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
