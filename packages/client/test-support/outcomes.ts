import { expect } from "vitest";

/** What an iterable gives, to its end. */
export async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const collected: Item[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}

/** What a promise is rejected with. */
export function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => expect.unreachable("it went well"),
    (error: unknown) => error,
  );
}

/** Resolves with the error when the promise is rejected with one of that class; fails the test otherwise. */
export async function rejectedWith<Type extends abstract new (...args: never[]) => Error>(
  promise: Promise<unknown>,
  type: Type,
): Promise<InstanceType<Type>> {
  const thrown = await failureOf(promise);
  if (thrown instanceof type) return thrown as InstanceType<Type>; // which narrows to Error only
  throw thrown;
}
