import {
  type FieldWalk,
  isObject,
  type LazyJson,
  type LazyList,
  type LazyObject,
  report,
  reportAt,
  toTable,
} from "@a2a-connect/core/internal";

/**
 * How one value is written in A2A 1.0 (as ProtoJSON) and in an older version, as JSON both times. The table in
 * `forms.ts` is made of these, and both directions are derived from it.
 */
export interface Form {
  /** The value in the older version. The elements of a lazy list are converted when they are read. */
  toOlder(value: LazyJson): LazyJson;
  /**
   * The value in 1.0, from a caller's JSON. A value of a type that the form does not look at stays as it is: the reader of
   * 1.0 refuses it. Undefined when the walk was told what is wrong.
   */
  toCurrent(value: unknown, walk: FieldWalk): unknown;
  /** A path of 1.0 below this value, with the older names. */
  olderPath(path: readonly string[]): readonly string[];
}

/** JSON of an object, with unknown members. */
export type Members = Readonly<Record<string, unknown>>;

/** One member of an object: its name in 1.0, its older name if it is another, and the form of its value. */
export type Row = readonly [current: string, older?: string, form?: Form];

/** What the rows of an object cannot say. */
export interface RecordRules {
  /** The older `kind` of the object: it is written, and a caller may leave it out. */
  readonly kind?: string | undefined;
  /** Adds older members to what the rows have written. */
  addOlder?(older: LazyObject, current: LazyObject): void;
  /** Adds members of 1.0 to what the rows have read. */
  addCurrent?(current: Record<string, unknown>, older: Members, walk: FieldWalk): void;
}

/** The same in both versions. */
export const same: Form = {
  toOlder: (value) => value,
  toCurrent: (value) => value,
  olderPath: (path) => path,
};

/** An object with these members. Others have no form in the other version, and are left out. */
export function record(rows: readonly Row[], rules: RecordRules = {}): Form {
  const fields = rows.map(([current, older = current, form = same]) => ({ current, older, form }));
  const kind = rules.kind === undefined ? {} : { kind: rules.kind };
  return {
    toOlder(value) {
      const object = value as LazyObject; // a message of 1.0 is an object
      const older: LazyObject = { ...kind };
      for (const { current, older: name, form } of fields) {
        const member = object[current];
        if (member !== undefined) {
          older[name] = form.toOlder(member);
        }
      }
      rules.addOlder?.(older, object);
      return older;
    },
    toCurrent(value, walk) {
      if (!isObject(value)) {
        report(walk, "must be an object");
        return undefined;
      }
      const current: Record<string, unknown> = {};
      for (const { current: name, older, form } of fields) {
        const member = (value as Members)[older] ?? undefined; // null means that it is not set
        if (member !== undefined) {
          walk.path.push(older);
          const converted = form.toCurrent(member, walk);
          walk.path.pop();
          if (converted !== undefined) {
            current[name] = converted;
          }
        }
      }
      rules.addCurrent?.(current, value, walk);
      return current;
    },
    olderPath(path) {
      const [name, ...rest] = path;
      const field = fields.find(({ current }) => current === name);
      return field === undefined ? path : [field.older, ...field.form.olderPath(rest)];
    },
  };
}

/** An array of values of one form. */
export function list(form: Form): Form {
  return {
    toOlder: (value) => (value as LazyJson[] | LazyList).map((each) => form.toOlder(each)), // a repeated field
    toCurrent(value, walk) {
      if (!Array.isArray(value)) {
        return value;
      }
      return value.map((each: unknown, index) => {
        walk.path.push(index);
        const current = form.toCurrent(each, walk);
        walk.path.pop();
        return current;
      });
    },
    olderPath: ([index, ...rest]) => (index === undefined ? [] : [index, ...form.olderPath(rest)]),
  };
}

/** An object whose member names are chosen by its author. */
export function table(form: Form): Form {
  const convert = (value: object, each: (member: unknown, name: string) => unknown) =>
    toTable(Object.entries(value).map(([name, member]) => [name, each(member, name)]));
  return {
    toOlder: (value) =>
      convert(value as LazyObject, (member) => form.toOlder(member as LazyJson)) as LazyObject, // a map field
    toCurrent(value, walk) {
      if (!isObject(value)) {
        return value;
      }
      return convert(value, (member, name) => {
        walk.path.push(name);
        const current = form.toCurrent(member, walk);
        walk.path.pop();
        return current;
      });
    },
    olderPath: ([name, ...rest]) => (name === undefined ? [] : [name, ...form.olderPath(rest)]),
  };
}

/** The names of an enum, in 1.0 and before. */
export function names(pairs: readonly (readonly [current: string, older: string])[]): Form {
  const older = new Map(pairs);
  const current = new Map(pairs.map(([one, other]) => [other, one]));
  const words = [...current.keys()].join(", ");
  return {
    toOlder: (value) => older.get(value as string) ?? value, // names of an enum
    toCurrent(value, walk) {
      const name = typeof value === "string" ? current.get(value) : undefined;
      if (name === undefined && !walk.isLenient) {
        report(walk, `must be one of ${words}`);
      }
      return name;
    },
    olderPath: (path) => path,
  };
}

/** Notes that a member of the object at the walk's path is missing. */
export function reportMissing(walk: FieldWalk, name: string): void {
  reportAt(walk, name, "is required");
}
