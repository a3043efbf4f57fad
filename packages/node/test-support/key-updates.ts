import { createCipheriv, createHmac } from "node:crypto";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { Duplex } from "node:stream";
import { connect as connectTls } from "node:tls";

/** A connection whose handshake of TLS 1.3 is complete, on which a test writes records of its own. */
export interface RecordConnection extends Disposable {
  readonly socket: Socket;
  /** The next records: each says that another key follows (KeyUpdate, RFC 8446 §4.6.3). */
  formatKeyUpdates(count: number): Buffer;
}

export async function openRecordConnection(port: number): Promise<RecordConnection> {
  const socket = connect({ port, host: "127.0.0.1" }).on("error", () => undefined);
  const pipe = new Duplex({
    read: () => undefined,
    write: (bytes: Buffer, _encoding, written) => void socket.write(bytes, () => written()),
  });
  socket.on("data", (bytes: Buffer) => pipe.push(bytes));
  const client = connectTls({
    socket: pipe,
    rejectUnauthorized: false,
    minVersion: "TLSv1.3",
    ciphers: "TLS_AES_128_GCM_SHA256",
  }).on("error", () => undefined);
  let secret: Buffer = Buffer.alloc(0);
  client.on("keylog", (line: Buffer) => {
    const [label, , key = ""] = line.toString().trim().split(" ");
    if (label === "CLIENT_TRAFFIC_SECRET_0") secret = Buffer.from(key, "hex");
  });
  await once(client, "secureConnect");
  return {
    socket,
    formatKeyUpdates: (count) =>
      Buffer.concat(
        Array.from({ length: count }, () => {
          const record = formatKeyUpdate(secret);
          secret = expand(secret, "traffic upd", 32);
          return record;
        }),
      ),
    [Symbol.dispose]: () => void socket.destroy(),
  };
}

/** The first record under this secret. */
function formatKeyUpdate(secret: Buffer): Buffer {
  const content = Buffer.from([24, 0, 0, 1, 0, 22]); // key_update, of one byte: update_not_requested; a record of a handshake
  const head = Buffer.from([23, 3, 3, 0, content.length + 16]);
  const cipher = createCipheriv("aes-128-gcm", expand(secret, "key", 16), expand(secret, "iv", 12)).setAAD(
    head,
  );
  return Buffer.concat([head, cipher.update(content), cipher.final(), cipher.getAuthTag()]);
}

/** HKDF-Expand-Label (RFC 8446 §7.1), of one block at most. */
function expand(secret: Buffer, label: string, length: number): Buffer {
  const name = Buffer.from(`tls13 ${label}`);
  const info = Buffer.concat([Buffer.from([0, length, name.length]), name, Buffer.from([0, 1])]);
  return createHmac("sha256", secret).update(info).digest().subarray(0, length);
}
