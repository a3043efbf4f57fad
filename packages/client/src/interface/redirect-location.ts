/** Where a response says that what was asked for is; undefined when it is no redirect that can be followed. */
export function redirectLocation({ status, headers }: Response): string | undefined {
  return [301, 302, 303, 307, 308].includes(status) ? (headers.get("location") ?? undefined) : undefined;
}
