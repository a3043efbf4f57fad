import { formatMessage } from "@a2a-connect/core/internal";
import { type StreamResponse, StreamResponseSchema } from "@a2a-connect/proto";

/** Events as text, without what differs between two runs of the same command: ids and times. */
export function transcriptOf(events: readonly StreamResponse[]): readonly string[] {
  const ids = new Map<string, string>();
  const name = (id: string) => {
    const known = ids.get(id) ?? `id-${ids.size + 1}`;
    ids.set(id, known);
    return known;
  };
  return events.map((event) =>
    JSON.stringify(formatMessage(StreamResponseSchema, event))
      .replaceAll(/"\d{4}-\d\d-\d\dT[^"]+"/g, '"a time"')
      .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, name),
  );
}
