// Preloaded by the processes that run the examples of docs/mount.md: the first line that they print is their port.
import { type AddressInfo, Server } from "node:net";

const { listen } = Server.prototype;
Server.prototype.listen = function (this: Server, ...args: unknown[]): Server {
  this.once("listening", () => console.log((this.address() as AddressInfo).port)); // the examples listen on TCP
  return Reflect.apply(listen, this, args) as Server; // listen returns its server
} as typeof listen; // the same overloads
