import { InvalidArgumentError, Option } from "commander";

/** `--port`, as all commands have it that listen. Undefined when it was not given: something else may say it. */
export function portOption(preset: number): Option {
  return new Option(
    "--port <number>",
    `port to listen on; 0: any that is free (default: ${preset})`,
  ).argParser(parsePort);
}

/** `--host`, as all commands have it that listen. */
export function hostOption(): Option {
  return new Option(
    "--host <name>",
    "name or address to bind; 0.0.0.0 is open to the network (default: localhost)",
  );
}

/** @throws InvalidArgumentError when it is no port */
export function parsePort(value: string): number {
  const port = Number(value);
  if (!/^\d{1,5}$/.test(value) || port > 65_535) {
    throw new InvalidArgumentError("It is a number from 0 to 65535.");
  }
  return port;
}
