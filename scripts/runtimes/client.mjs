// Calls an agent over each wire: a task, a stream, and a question with its answer.

const connect = "urn:a2a-connect:binding:connect:v1";
const grpcWeb = "urn:a2a-connect:binding:grpc-web:v1";

/** What a client of this runtime can do, wire by wire: `yes`, or why not. */
export async function callAgent(connectAgent, url, wires = ["JSONRPC", "HTTP+JSON", connect, grpcWeb]) {
  const found = {};
  for (const pinBinding of wires) found[pinBinding] = await tryWire(connectAgent, url, pinBinding);
  return found;
}

async function tryWire(connectAgent, url, pinBinding) {
  try {
    const client = await connectAgent(url, { pinBinding });
    const counted = await client.run("count");
    let events = 0;
    for await (const _ of client.stream("count")) events += 1;
    const asked = await client.run("ask", { onInputRequired: () => "far" });
    await client.close();
    const seen = `${counted.text()} ${events} ${asked.text()}`;
    return seen === "123 5 123" ? "yes" : `it saw ${seen}`;
  } catch (error) {
    return error.message;
  }
}
