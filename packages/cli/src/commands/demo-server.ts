import type { AddCommand } from "../command.ts";
import { hostOption, portOption } from "./serve.ts";

/** Not that of `a2a serve`, so that both can run beside each other. */
const demoPort = 4100;

interface DemoFlags {
  readonly port?: number;
  readonly host?: string;
}

/** `a2a demo-server`: an agent to practise every command with (a2a-cli §7.1). */
export const addDemoServer: AddCommand = (program, setAction) => {
  const command = program
    .command("demo-server")
    .description("Run a demo agent to practise every command with")
    .addOption(portOption(demoPort))
    .addOption(hostOption());
  setAction(command, async () => {
    const { serveDemo } = await import("../demo/serve-demo.ts");
    return (context, { port = demoPort, host }: DemoFlags) => serveDemo(context, { port, host });
  });
};
