import { subscribe, unsubscribe } from "node:diagnostics_channel";

/** How many requests of HTTP/1.1 have been read at most that were not answered yet, until `end`. */
export async function countUnanswered(end: Promise<void>): Promise<number> {
  let unanswered = 0;
  let most = 0;
  const begin = (): void => {
    unanswered += 1;
    most = Math.max(most, unanswered);
  };
  const finish = (): void => {
    unanswered -= 1;
  };
  subscribe("http.server.request.start", begin);
  subscribe("http.server.response.finish", finish);
  await end;
  unsubscribe("http.server.request.start", begin);
  unsubscribe("http.server.response.finish", finish);
  return most;
}
