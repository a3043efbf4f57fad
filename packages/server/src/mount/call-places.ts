import { type Holding, SharedBudget, shareByLimits } from "@a2a-connect/core/internal";

/**
 * The calls whose answers have not begun, of all mounts with the same limit. Runtimes hand over any number of them, and each waits for its
 * turn: answers of which there is nothing yet stop no caller.
 */
export const findCallPlaces: (limits: { readonly maxCalls: number }) => SharedBudget = shareByLimits(
  ({ maxCalls: max }) => new SharedBudget({ max, maxShare: 7 / 8, refuse: () => tooMany }),
);

const tooMany = new Error("too many");

/** The header that a call may have for each place it takes, and what a field, or the URL, adds to it. */
const placeBytes = 4 * 1024;
const fieldBytes = 32;

/** @returns null: its caller has as many as it may have */
export function takePlaces(
  places: SharedBudget,
  network: string | undefined,
  { url, headers }: Pick<Request, "url" | "headers">,
): Holding | null {
  let bytes = url.length + fieldBytes;
  for (const [name, value] of headers) bytes += name.length + value.length + fieldBytes;
  const place = places.open(network);
  try {
    place.add(Math.max(1, Math.ceil(bytes / placeBytes)));
  } catch {
    return null;
  }
  return place;
}
