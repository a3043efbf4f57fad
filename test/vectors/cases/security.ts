import type { JsonObject } from "@bufbuild/protobuf";
import { bareCard, bareWith, baseCard, baseWithSecurity } from "../base-card.ts";
import type { VectorCase } from "../vector-case.ts";

const flows = {
  authorizationCode: {
    authorizationCode: {
      authorizationUrl: "https://login.example.com/authorize",
      tokenUrl: "https://login.example.com/token",
      refreshUrl: "https://login.example.com/refresh",
      scopes: { read: "May read.", write: "" },
      pkceRequired: true,
    },
  },
  clientCredentials: {
    clientCredentials: {
      tokenUrl: "https://login.example.com/token",
      scopes: { read: "May read." },
      refreshUrl: "",
    },
  },
  deviceCode: {
    deviceCode: {
      deviceAuthorizationUrl: "https://login.example.com/device",
      tokenUrl: "https://login.example.com/token",
      scopes: { read: "May read." },
    },
  },
  implicit: {
    implicit: { authorizationUrl: "https://login.example.com/authorize", scopes: { read: "May read." } },
  },
  password: { password: { tokenUrl: "https://login.example.com/token", scopes: {} } },
} satisfies Record<string, JsonObject>;

const schemes = {
  apiKey: { apiKeySecurityScheme: { location: "header", name: "X-Api-Key", description: "" } },
  http: { httpAuthSecurityScheme: { scheme: "bearer", bearerFormat: "JWT", description: "A token." } },
  openId: {
    openIdConnectSecurityScheme: {
      openIdConnectUrl: "https://login.example.com/.well-known/openid-configuration",
    },
  },
  mtls: { mtlsSecurityScheme: {} },
  code: {
    oauth2SecurityScheme: {
      flows: flows.authorizationCode,
      oauth2MetadataUrl: "https://login.example.com/.well-known/oauth-authorization-server",
    },
  },
  credentials: { oauth2SecurityScheme: { flows: flows.clientCredentials } },
  device: { oauth2SecurityScheme: { flows: flows.deviceCode } },
  implicit: { oauth2SecurityScheme: { flows: flows.implicit } },
  password: { oauth2SecurityScheme: { flows: flows.password } },
} satisfies Record<string, JsonObject>;

/** By hand, in order. */
const everyScheme =
  '{"apiKey":{"apiKeySecurityScheme":{"location":"header","name":"X-Api-Key"}},' +
  '"code":{"oauth2SecurityScheme":{"flows":{"authorizationCode":{"authorizationUrl":"https://login.example.com/authorize","pkceRequired":true,"refreshUrl":"https://login.example.com/refresh","scopes":{"read":"May read.","write":""},"tokenUrl":"https://login.example.com/token"}},"oauth2MetadataUrl":"https://login.example.com/.well-known/oauth-authorization-server"}},' +
  '"credentials":{"oauth2SecurityScheme":{"flows":{"clientCredentials":{"scopes":{"read":"May read."},"tokenUrl":"https://login.example.com/token"}}}},' +
  '"device":{"oauth2SecurityScheme":{"flows":{"deviceCode":{"deviceAuthorizationUrl":"https://login.example.com/device","scopes":{"read":"May read."},"tokenUrl":"https://login.example.com/token"}}}},' +
  '"http":{"httpAuthSecurityScheme":{"bearerFormat":"JWT","description":"A token.","scheme":"bearer"}},' +
  '"implicit":{"oauth2SecurityScheme":{"flows":{"implicit":{"authorizationUrl":"https://login.example.com/authorize","scopes":{"read":"May read."}}}}},' +
  '"mtls":{"mtlsSecurityScheme":{}},' +
  '"openId":{"openIdConnectSecurityScheme":{"openIdConnectUrl":"https://login.example.com/.well-known/openid-configuration"}},' +
  '"password":{"oauth2SecurityScheme":{"flows":{"password":{"tokenUrl":"https://login.example.com/token"}}}}}';

const credentialsCanonical =
  '{"google":{"oauth2SecurityScheme":{"flows":{"clientCredentials":{"scopes":{"read":"May read."},"tokenUrl":"https://login.example.com/token"}}}}}';

/** Schemes, flows and requirements, and what of them may be empty. */
export const securityCases: readonly VectorCase[] = [
  {
    name: "every-scheme-and-flow",
    description:
      "All five kinds of scheme and all five OAuth flows, each named by a requirement. `mtlsSecurityScheme` is a message that is set: it stays as `{}`. `scopes` is REQUIRED in three of the flows and goes when it is empty in the two deprecated ones; so does everything else that is empty.",
    rule: ["§8.4.1", "§4.5", "M"],
    card: {
      ...baseCard,
      securitySchemes: schemes,
      securityRequirements: [
        { schemes: { apiKey: { list: [] }, mtls: {} } },
        { schemes: { http: { list: [] } } },
        { schemes: { openId: { list: ["openid"] } } },
        ...["code", "credentials", "device", "implicit", "password"].map((name) => ({
          schemes: { [name]: { list: ["read"] } },
        })),
      ],
    },
    canonical: baseWithSecurity(
      everyScheme,
      '[{"schemes":{"apiKey":{},"mtls":{}}},{"schemes":{"http":{}}},{"schemes":{"openId":{"list":["openid"]}}},{"schemes":{"code":{"list":["read"]}}},{"schemes":{"credentials":{"list":["read"]}}},{"schemes":{"device":{"list":["read"]}}},{"schemes":{"implicit":{"list":["read"]}}},{"schemes":{"password":{"list":["read"]}}}]',
    ),
  },
  {
    name: "empty-scopes",
    description: "`scopes` of the flow is a REQUIRED map: it stays although it is empty.",
    rule: ["§8.4.1", "M"],
    card: {
      ...baseCard,
      securitySchemes: {
        google: {
          oauth2SecurityScheme: {
            flows: { clientCredentials: { tokenUrl: "https://login.example.com/token", scopes: {} } },
          },
        },
      },
      securityRequirements: [{ schemes: { google: { list: ["read"] } } }],
    },
    canonical: baseWithSecurity(
      credentialsCanonical.replace('{"read":"May read."}', "{}"),
      '[{"schemes":{"google":{"list":["read"]}}}]',
    ),
  },
  {
    name: "scope-free-requirement",
    description:
      "A requirement that demands a scheme and no scope: the name of the scheme stays, and its empty list goes. Signers that lose the requirement are why profiles other than `strict` are off by default.",
    rule: ["§8.4.1", "M"],
    card: {
      ...baseCard,
      securitySchemes: { google: schemes.credentials },
      securityRequirements: [{ schemes: { google: { list: [] } } }],
    },
    canonical: baseWithSecurity(credentialsCanonical, '[{"schemes":{"google":{}}}]'),
  },
  {
    name: "empty-requirement",
    description:
      '`{"schemes":{}}` among the requirements means that no credentials will do, too. As a message in a list it stays, as `{}`.',
    rule: ["§8.4.1", "M", "L-9"],
    card: {
      ...baseCard,
      securitySchemes: { google: schemes.credentials },
      securityRequirements: [{ schemes: { google: { list: ["read"] } } }, { schemes: {} }],
    },
    canonical: baseWithSecurity(credentialsCanonical, '[{"schemes":{"google":{"list":["read"]}}},{}]'),
  },
  {
    name: "skill-requirement",
    description: "Requirements of a skill follow the rules of those of the card.",
    rule: ["§8.4.1", "M"],
    card: {
      ...bareCard,
      securitySchemes: { google: schemes.credentials },
      skills: [
        {
          id: "forecast",
          name: "Forecast",
          description: "Forecasts the weather.",
          tags: ["weather"],
          securityRequirements: [{ schemes: { google: {} } }],
        },
      ],
    },
    canonical: bareWith([
      '"skills":[{"description":"Forecasts the weather.","id":"forecast","name":"Forecast","tags":["weather"]}]',
      `"securitySchemes":${credentialsCanonical},"skills":[{"description":"Forecasts the weather.","id":"forecast","name":"Forecast","securityRequirements":[{"schemes":{"google":{}}}],"tags":["weather"]}]`,
    ]),
  },
  {
    name: "scheme-names",
    description:
      "Names of schemes are the card's own: they are neither respelled nor left out, not even the empty one.",
    rule: ["M", "H-13"],
    card: {
      ...baseCard,
      securitySchemes: { my_scheme: schemes.mtls, "": schemes.mtls },
      securityRequirements: [{ schemes: { my_scheme: {}, "": {} } }],
    },
    canonical: baseWithSecurity(
      '{"":{"mtlsSecurityScheme":{}},"my_scheme":{"mtlsSecurityScheme":{}}}',
      '[{"schemes":{"":{},"my_scheme":{}}}]',
    ),
  },
];
