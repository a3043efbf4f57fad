/** The tag of a skill whose first example is there to fail, or to be refused: `smoke` wants exactly that of it. */
export const expectedFailureTag = "expected-failure";
