import type { RawValue, SettingOption } from "../options.ts";
import { isCredentialName } from "../wire-log/credential-name.ts";

/** A value as it may be shown: credentials masked. */
export function maskRawValue(option: SettingOption, value: RawValue | undefined): RawValue | undefined {
  if (option.secret === true) {
    return value === undefined ? undefined : "***";
  }
  return option.flag === "svc-param" && typeof value === "object" ? value.map(maskParameter) : value;
}

/** The same as words. */
export function formatRawValue(option: SettingOption, value: RawValue | undefined): string {
  const shown = maskRawValue(option, value);
  switch (typeof shown) {
    case "undefined":
      return option.builtIn ?? "none";
    case "boolean":
      return shown ? "on" : "off";
    case "string":
      return shown;
    default:
      return shown.join(", ");
  }
}

function maskParameter(parameter: string): string {
  const name = parameter.slice(0, parameter.indexOf(":"));
  return isCredentialName(name) ? `${name}:***` : parameter;
}
