import { describe, expect, it } from "vitest";
import { readCardText } from "../canonical/unambiguous-text.ts";
import { legacyProfiles, profileCard } from "./profile-card.ts";

describe("what the SDKs leave out of what they sign", () => {
  for (const [what, card, payload, uncovered] of [
    [
      "empty REQUIRED fields",
      '{"name":"A","description":"","skills":[],"defaultInputModes":[]}',
      '{"name":"A"}',
      ["description", "skills", "defaultInputModes"],
    ],
    [
      "a requirement without scopes",
      '{"securityRequirements":[{"schemes":{"a":{"list":["s"]}}},{"schemes":{"b":{"list":[]}}}]}',
      '{"securityRequirements":[{"schemes":{"a":{"list":["s"]}}}]}',
      ["securityRequirements[1]"],
    ],
    [
      "a scheme without scopes beside one that has some",
      '{"securityRequirements":[{"schemes":{"a":{"list":["s"]},"b":{}}}]}',
      '{"securityRequirements":[{"schemes":{"a":{"list":["s"]}}}]}',
      ["securityRequirements[0].schemes.b"],
    ],
    [
      "all requirements, when none has scopes",
      '{"securityRequirements":[{"schemes":{"a":{}}},{}]}',
      "{}",
      ["securityRequirements"],
    ],
    [
      "a scheme without fields",
      '{"securitySchemes":{"m":{"mtlsSecurityScheme":{}}}}',
      "{}",
      ["securitySchemes"],
    ],
    [
      "an empty scope description",
      '{"securitySchemes":{"o":{"oauth2SecurityScheme":{"flows":{"clientCredentials":{"tokenUrl":"u","scopes":{"a":"","b":"B"}}}}}}}',
      '{"securitySchemes":{"o":{"oauth2SecurityScheme":{"flows":{"clientCredentials":{"scopes":{"b":"B"},"tokenUrl":"u"}}}}}}',
      ["securitySchemes.o.oauth2SecurityScheme.flows.clientCredentials.scopes.a"],
    ],
    [
      "what is empty inside params",
      '{"capabilities":{"extensions":[{"uri":"u","params":{"a":null,"b":{"c":[""]},"d":0,"e":false}}]}}',
      '{"capabilities":{"extensions":[{"params":{"d":0,"e":false},"uri":"u"}]}}',
      ["capabilities.extensions[0].params.a", "capabilities.extensions[0].params.b"],
    ],
    [
      "members that nobody knows",
      '{"name":"A","url":"https://x","skills":[{"id":"s","x":1}]}',
      '{"name":"A","skills":[{"id":"s"}]}',
      ["url", "skills[0].x"],
    ],
    [
      "nothing of a card in which nothing is empty",
      '{"name":"A","iconUrl":"i","capabilities":{"streaming":false}}',
      '{"capabilities":{"streaming":false},"iconUrl":"i","name":"A"}',
      [],
    ],
    ["an optional text that is set to nothing", '{"name":"A","iconUrl":""}', '{"name":"A"}', ["iconUrl"]],
  ] as const) {
    it(what, () => {
      const json = readCardText(card);
      expect(profileCard("js-1", json)[0]).toEqual({ payload, uncovered });
      expect(profileCard("python-1", json)[0]?.uncovered).toEqual(uncovered);
    });
  }
});

describe("the raw profile", () => {
  it("signs the JSON as it stands, but for its signatures, and leaves nothing uncovered", () => {
    const json = readCardText('{"z":[],"icon_url":"","name":null,"signatures":[{}],"a":{"c":1,"b":1.0}}');
    const payload = '{"a":{"b":1,"c":1},"icon_url":"","name":null,"z":[]}';
    expect(profileCard("raw", json)).toEqual([{ payload, uncovered: [] }]);
  });
});

describe("a card that could be read in two ways", () => {
  const json = { iconUrl: "a", icon_url: "b" };

  for (const profile of legacyProfiles) {
    it(profile === "raw" ? "is signed with both readings by raw" : `is refused by ${profile}`, () => {
      const profiled = () => profileCard(profile, json)[0]?.payload;
      if (profile === "raw") {
        expect(profiled()).toBe('{"iconUrl":"a","icon_url":"b"}');
      } else {
        expect(profiled).toThrow("icon_url");
      }
    });
  }
});
