interface BodyObserver {
  chunk(bytes: Uint8Array): void;
  /** `left`: its reader had enough. With an error when it broke. */
  end(how: "ended" | "broke" | "left", error?: unknown): void;
}

/** The same response, whose body is watched while its reader reads it, at the reader's pace. */
export function observeBody(response: Response, observer: BodyObserver): Response {
  if (response.body === null) return response;
  const reader = response.body.getReader();
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (done) {
            observer.end("ended");
            controller.close();
          } else {
            observer.chunk(value);
            controller.enqueue(value);
          }
        } catch (error) {
          observer.end("broke", error);
          controller.error(error);
        }
      },
      async cancel(reason) {
        observer.end("left");
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
  const { status, statusText, headers, url, redirected } = response;
  // The constructor cannot set these two.
  return Object.defineProperties(new Response(body, { status, statusText, headers }), {
    url: { value: url },
    redirected: { value: redirected },
  });
}

/** The same response. @param take gets its bytes, when it was read to its end */
export function recordBody(response: Response, take: (bytes: Buffer) => void): Response {
  const chunks: Uint8Array[] = [];
  return observeBody(response, {
    chunk: (bytes) => void chunks.push(bytes), // no more of them than are read, and readers have a limit
    end: (how) => {
      if (how === "ended") take(Buffer.concat(chunks));
    },
  });
}
