/** The target of a redirect; undefined when the response is not one that can be followed. */
export function redirectLocation({ status, headers }: Response): string | undefined {
  return [301, 302, 303, 307, 308].includes(status) ? (headers.get("location") ?? undefined) : undefined;
}
