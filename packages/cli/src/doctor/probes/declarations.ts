import type { AgentCard } from "@a2a-connect/proto";
import { type Finding, quote } from "../finding.ts";

/** What the card declares about itself and cannot be tried: version, security schemes, interfaces twice. */
export function probeDeclarations(card: AgentCard): Finding[] {
  return [judgeVersion(card), ...judgeSchemes(card), ...judgeInterfaces(card)];
}

function judgeVersion({ version }: AgentCard): Finding {
  const id = "card.version";
  if (/^v?0\.0\.0/.test(version)) {
    return {
      id,
      severity: "note",
      what: "The agent's version was never set.",
      evidence: quote(version),
      fix: "Give it a version, and raise it with every change that callers notice.",
    };
  }
  return /^v?\d+\.\d+(\.\d+)?([-+].*)?$/.test(version)
    ? { id, severity: "ok", what: "The agent has a version that callers can pin.", evidence: quote(version) }
    : {
        id,
        severity: "note",
        what: "The agent's version is none that callers can pin by a range.",
        evidence: quote(version),
        fix: "Use a semantic version, such as 1.2.0.",
      };
}

function judgeSchemes({ securitySchemes, securityRequirements, skills }: AgentCard): Finding[] {
  const declared = Object.keys(securitySchemes);
  const required = [securityRequirements, ...skills.map((skill) => skill.securityRequirements)].flat();
  const unknown = [...new Set(required.flatMap(({ schemes }) => Object.keys(schemes)))].filter(
    (name) => !declared.includes(name),
  );
  const findings: Finding[] = [];
  if (unknown.length > 0) {
    findings.push({
      id: "security.schemes",
      severity: "problem",
      what: "The card requires security schemes that it does not declare.",
      evidence: quote(unknown.join(", ")),
      fix: "Declare them in securitySchemes.",
    });
  }
  if (declared.length > 0 && required.length === 0) {
    findings.push({
      id: "security.schemes",
      severity: "warning",
      what: "The card declares security schemes, but requires none.",
      evidence: quote(declared.join(", ")),
      fix: "Name them in securityRequirements, or take them out.",
    });
  }
  return findings;
}

function judgeInterfaces({ supportedInterfaces }: AgentCard): Finding[] {
  const keys = supportedInterfaces.map(({ url, protocolBinding, protocolVersion, tenant }) =>
    [protocolBinding, protocolVersion, url, tenant].join(" "),
  );
  const twice = [...new Set(keys.filter((key, index) => keys.indexOf(key) !== index))];
  return twice.length === 0
    ? []
    : [
        {
          id: "card.interfaces",
          severity: "note",
          what: "The card lists an interface more than once.",
          evidence: quote(twice.join(", ")),
          fix: "Take the repeated ones out.",
        },
      ];
}
