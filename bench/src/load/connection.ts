/** One socket (or one stream of a shared socket) of the load: asks, and hands over the answer's body as it arrives. */
export interface Connection {
  /**
   * Sends a request that is ready for the socket; resolves when its answer is complete.
   *
   * @throws Error when the answer is no success, or the connection breaks
   */
  exchange(request: Buffer, onBody: (chunk: Buffer) => void): Promise<void>;
  close(): void;
}
