import { expect, it } from "vitest";
import { withPlainStatusMessage } from "./status-trailer.ts";

/** The trailers of one of Connect's answers that repeats what a caller has sent. */
async function trailerOf(repeated: string): Promise<Headers> {
  const trailer = new Headers({
    "grpc-status": "3",
    "grpc-message": encodeURIComponent(`invalid: ${repeated}`),
    "grpc-status-details-bin": btoa(encodeURIComponent(repeated)),
  });
  async function* empty(): AsyncGenerator<Uint8Array> {}
  const header = new Headers({ "content-type": "application/grpc" });
  const { body } = withPlainStatusMessage({ status: 200, header, body: empty(), trailer });
  for await (const _chunk of body as AsyncIterable<Uint8Array>); // then the trailers are complete
  return trailer;
}

it("the message of a status is written as gRPC writes it", async () => {
  const trailer = await trailerOf("a timeout; of 5% ü");
  expect(trailer.get("grpc-message")).toBe("invalid: a timeout; of 5%25 %C3%BC");
  expect(trailer.has("grpc-status-details-bin")).toBe(true);
});

it.each(["a", "%", "é", "\u{1f600}"])(
  "a status that repeats a long header fits into trailers, of which Node sends 64 KiB: %s",
  async (character) => {
    const trailer = await trailerOf(character.repeat(31_000));
    expect(trailer.get("grpc-message")?.length).toBeLessThan(20_000);
    expect(trailer.has("grpc-status-details-bin")).toBe(false);
    expect(trailer.get("grpc-status")).toBe("3");
  },
);
