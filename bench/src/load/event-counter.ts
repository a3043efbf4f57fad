/** Counts the events of a stream from its bytes, however they are cut. */
export interface EventCounter {
  /** Events that have begun so far. */
  readonly count: number;
  take(chunk: Buffer): void;
}

const dataField = "\ndata:";

/** Counts `data:` lines: the servers of the bench write one for every event. */
export function createSseCounter(): EventCounter {
  let count = 0;
  let tail = Buffer.from("\n");
  return {
    get count() {
      return count;
    },
    take(chunk) {
      const text = Buffer.concat([tail, chunk]);
      for (let at = text.indexOf(dataField); at !== -1; at = text.indexOf(dataField, at + dataField.length)) {
        count++;
      }
      // What may be the beginning of a field is looked at again, a whole field is not.
      tail = text.subarray(Math.max(0, text.length - (dataField.length - 1)));
    },
  };
}

/** Counts length-prefixed messages of gRPC, gRPC-Web and Connect; those with a flag of `endFlags` end the stream. */
export function createEnvelopeCounter(endFlags: number): EventCounter {
  const prefix = Buffer.alloc(5);
  let prefixed = 0;
  let remaining = 0;
  let count = 0;
  return {
    get count() {
      return count;
    },
    take(chunk) {
      let offset = 0;
      while (offset < chunk.length) {
        if (remaining > 0) {
          const taken = Math.min(remaining, chunk.length - offset);
          remaining -= taken;
          offset += taken;
          continue;
        }
        const copied = chunk.copy(prefix, prefixed, offset);
        prefixed += copied;
        offset += copied;
        if (prefixed === prefix.length) {
          prefixed = 0;
          remaining = prefix.readUInt32BE(1);
          count += (prefix.readUInt8(0) & endFlags) === 0 ? 1 : 0;
        }
      }
    },
  };
}
