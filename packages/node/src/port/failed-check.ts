import { setImmediate } from "node:timers";
import type { TLSSocket } from "node:tls";

/**
 * Goes on in the next turn, after Node has told of a failed check. When a caller's certificate names our authority and is not of it,
 * OpenSSL leaves the error of that behind, and Node emits it once the handshake is complete, as one of the connection: HTTP/1.1 would
 * cut it, and HTTP/2 end its session. The gate decides about such calls.
 */
export function forgetFailedCheck(socket: TLSSocket, goOn: () => void): void {
  const forget = ({ library }: Error & { readonly library?: string }): void => {
    if (library === "SSL routines") socket.destroy(); // what the caller has sent is no TLS, for example
  };
  socket.on("error", forget);
  setImmediate(() => {
    socket.off("error", forget);
    Object.assign(socket, { _hadError: false }); // otherwise Node would tell of no further error
    if (!socket.destroyed) goOn();
  });
}
