/**
 * Marks, among the extensions of a card, the capability `inputRequired`: some older cards declare it, and 1.0 has no
 * field for it. The agent may ask questions during a task. The client never sends this URI.
 */
export const inputRequiredCapability = "urn:a2a-connect:older-capability:input-required";
