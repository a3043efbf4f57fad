interface BodyObserver {
  chunk(bytes: Uint8Array): void;
  /** `left`: its reader had enough. With an error when it broke. */
  end(how: "ended" | "broke" | "left", error?: unknown): void;
}

type Bytes = Uint8Array<ArrayBuffer>;

/** The same response, whose body is watched while its reader reads it, at the reader's pace. */
export function observeBody(response: Response, observer: BodyObserver): Response {
  const watching: Transformer<Bytes, Bytes> & { cancel(reason: unknown): void } = {
    transform(chunk, controller) {
      observer.chunk(chunk);
      controller.enqueue(chunk);
    },
    flush: () => observer.end("ended"),
    // With what has broken it; a reader who has enough gives no reason.
    cancel: (reason) => observer.end(reason === undefined ? "left" : "broke", reason),
  };
  const body = response.body?.pipeThrough(new TransformStream(watching));
  if (body === undefined) return response;
  const { status, statusText, headers, url, redirected } = response;
  // The constructor cannot set these two.
  return Object.defineProperties(new Response(body, { status, statusText, headers }), {
    url: { value: url },
    redirected: { value: redirected },
  });
}
