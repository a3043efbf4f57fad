/**
 * Stands among the extensions of a card for the capability `inputRequired` that some older cards declare and that has no
 * field in 1.0: the agent can ask in the middle of a task. It is never sent.
 */
export const inputRequiredCapability = "urn:a2a-connect:older-capability:input-required";
