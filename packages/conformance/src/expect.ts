import { chai, type ExpectStatic, JestAsymmetricMatchers, JestChaiExpect, JestExtend } from "@vitest/expect";

/** The matchers of the scenarios. They are a library of their own, and need no test runner around them. */
export const expect: ExpectStatic = createExpect();

function createExpect(): ExpectStatic {
  // A test runner that is built on the same library has added them already, and twice is wrong.
  if (!("toStrictEqual" in chai.Assertion.prototype)) {
    chai.use(JestExtend);
    chai.use(JestChaiExpect);
    chai.use(JestAsymmetricMatchers);
  }
  // The message of a failure is all that a server's owner gets to see.
  chai.config.truncateThreshold = 600;
  return chai.expect as unknown as ExpectStatic; // the plugins add what the type says
}
