import { type AddCommand, collect } from "../command.ts";

/** `a2a auth …`: tokens of the authorization servers that agents' cards name. */
export const addAuth: AddCommand = (program, setAction) => {
  const auth = program
    .command("auth")
    .description("Log in to agents that want a token from an authorization server");
  const login = auth
    .command("login")
    .description(
      "Get a token from the authorization server that the agent's card names, for all calls of this agent",
    )
    .requiredOption("--client-id <id>", "client id that you have registered at the authorization server")
    .option(
      "--client-secret-env <name>",
      "environment variable with the client's secret: then no user logs in",
    )
    .option("--browser", "log in with a browser of this machine (default: with a code, on any device)")
    .option("--issuer <url>", "the only authorization server to log in to (default: the card's)")
    .option("--audience <url>", "the API that the token is for (default: the agent's URL)")
    .option("--scope <scope>", "scope to ask for, repeatable (default: what the card requires)", collect)
    .addHelpText("after", loginExamples);
  setAction(login, async () => (await import("../auth/auth-commands.ts")).login, "card");
  const status = auth.command("status").description("Show where you are logged in, and until when");
  setAction(status, async () => (await import("../auth/auth-commands.ts")).status, "local");
  const logout = auth
    .command("logout")
    .description("Forget the tokens for an agent")
    .argument("[agent]", "its host or URL (default: --agent-card)")
    .option("--all", "forget all tokens");
  setAction(logout, async () => (await import("../auth/auth-commands.ts")).logout, "card");
};

const loginExamples = `
a2a keeps the tokens in a file that only you can read, sends them to this agent's origin only, and renews them where the
server allows that. --bearer and --api-key take precedence.

Examples:
  a2a auth login -a agent.example --client-id a2a                       with a code, on any device
  a2a auth login -a agent.example --client-id a2a --browser
  a2a auth login -a agent.example --client-id ci --client-secret-env CI_SECRET    as a machine
  a2a send -a agent.example "hello"                                     now with the token`;
