import { defineAgent } from "a2a-connect";

export default defineAgent({
  card: {
    name: "{{title}}",
    description: "Books tables: offers one that is free, and books it when told to.",
    version: "0.1.0",
    skills: [
      {
        id: "book",
        name: "Book a table",
        description: "Finds a free table, asks whether to book it, and books it.",
        tags: ["booking"],
        examples: ["A table for two, please"],
        inputModes: ["text/plain"],
        outputModes: ["application/json"],
      },
    ],
  },
  lifecycle: { asks: true, reportsProgress: true },

  // One generator for the whole task. After a crash it runs again from the top: what went through
  // the task's tools is remembered and not done again, so everything else has to be deterministic.
  durable: true,
  async *execute(task) {
    yield task.working("looking for a table", { progress: 0.2 });
    const offer = await task.step("search", () => searchTable());
    const answer = yield* task.ask({
      text: `Table ${offer.table} for ${offer.price} EUR?`,
      choices: ["yes", "no"],
    });
    if (answer.text === "no") {
      return yield task.reject("Then there is nothing to book.", { reason: "declined" });
    }
    yield task.artifact({ name: "booking", data: { ...offer, booked: new Date(task.now()).toISOString() } });
  },
});

/** What asks the outside world belongs into a step: its result is stored before it is used. */
async function searchTable(): Promise<{ table: number; price: number }> {
  return { table: 1 + Math.floor(Math.random() * 20), price: 40 };
}
