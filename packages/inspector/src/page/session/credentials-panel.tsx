import type { AgentCard, SecurityScheme } from "@a2a-connect/proto";
import type { JSX } from "preact";
import { shown, shownLine } from "../content/shown.ts";
import { credentials } from "./page-fetch.ts";

/** A field for what an agent asks callers for, and the header that carries it. */
interface CredentialField {
  readonly name: string;
  readonly label: string;
  readonly help: string;
  readonly header: string;
  /** What stands before the value in the header. */
  readonly prefix: string;
}

/** Asks for credentials as the card says. They stay in the page's memory. */
export function CredentialsPanel({ card }: { readonly card: AgentCard }): JSX.Element | null {
  const fields = fieldsOf(card);
  const others = Object.keys(card.securitySchemes).length - fields.length;
  if (Object.keys(card.securitySchemes).length === 0) return null;
  return (
    <section class="panel" aria-label="Credentials">
      <h2>Credentials</h2>
      <p class="muted">
        The agent asks its callers for credentials. What you enter is sent to it alone, and forgotten when you
        close or reload this page.
      </p>
      <form
        class="schema-form"
        autocomplete="off"
        onSubmit={(event) => {
          event.preventDefault();
          const data = new FormData(event.currentTarget);
          credentials.value = new Map(fields.flatMap((field) => headerOf(field, data.get(field.name))));
        }}
      >
        {fields.map(({ name, label, help }) => (
          <label key={name} for={`credential-${name}`}>
            <span>{label}</span>
            <input id={`credential-${name}`} name={name} type="password" autocomplete="off" />
            {help === "" ? null : <small class="muted">{help}</small>}
          </label>
        ))}
        {fields.length === 0 ? null : (
          <button type="submit" class="button is-primary">
            Use
          </button>
        )}
      </form>
      {credentials.value.size === 0 ? null : (
        <p>
          <span class="badge is-completed">in use</span> {[...credentials.value.keys()].join(", ")}{" "}
          <button
            type="button"
            class="link"
            onClick={() => {
              credentials.value = new Map();
            }}
          >
            Forget
          </button>
        </p>
      )}
      {others > 0 ? (
        <p class="muted">
          The card also has schemes that a page cannot meet, such as client certificates and keys in cookies.
        </p>
      ) : null}
    </section>
  );
}

function headerOf(
  { header, prefix }: CredentialField,
  entered: FormDataEntryValue | null,
): [header: string, value: string][] {
  // Bytes outside ASCII cannot stand in a header.
  return typeof entered === "string" && /^[\x20-\x7e]+$/.test(entered)
    ? [[header, prefix + entered.trim()]]
    : [];
}

function fieldsOf({ securitySchemes }: AgentCard): readonly CredentialField[] {
  return Object.entries(securitySchemes)
    .slice(0, 20)
    .flatMap(([name, scheme]) => fieldOf(name, scheme) ?? []);
}

function fieldOf(name: string, { scheme }: SecurityScheme): CredentialField | undefined {
  switch (scheme.case) {
    case "apiKeySecurityScheme": {
      const { location, name: header, description } = scheme.value;
      if (location !== "header" || !/^[\w-]{1,80}$/.test(header)) return undefined;
      return {
        name,
        label: `API key (${header})`,
        help: shown(description.slice(0, 300)),
        header,
        prefix: "",
      };
    }
    case "httpAuthSecurityScheme": {
      const { scheme: kind, description, bearerFormat } = scheme.value;
      if (!/^[\w-]{1,40}$/.test(kind)) return undefined;
      const format = bearerFormat === "" ? "" : ` (${shownLine(bearerFormat, 40)})`;
      const isBearer = kind.toLowerCase() === "bearer";
      return {
        name,
        label: `${isBearer ? "Bearer token" : `Credentials for ${kind}`}${format}`,
        help: shown(description.slice(0, 300)),
        header: "authorization",
        prefix: `${isBearer ? "Bearer" : kind} `,
      };
    }
    case "oauth2SecurityScheme":
    case "openIdConnectSecurityScheme":
      return {
        name,
        label: "Access token",
        help: "Get one from the authorization server that the card names, and enter it here.",
        header: "authorization",
        prefix: "Bearer ",
      };
    default:
      return undefined;
  }
}
