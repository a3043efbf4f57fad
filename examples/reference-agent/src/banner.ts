/** What to try first, for whoever has just started the agent. */
export function renderBanner(url: string): string {
  return `
  agent card   ${url}/.well-known/agent-card.json

  Try it over HTTP+JSON
    curl ${url}/rest/message:send -H 'A2A-Version: 1.0' -H 'Content-Type: application/json' \\
      -d '{"message":{"messageId":"1","role":"ROLE_USER","parts":[{"text":"task hello"}]}}'

  … over JSON-RPC, streaming
    curl -N ${url}/rpc -H 'A2A-Version: 1.0' -H 'Content-Type: application/json' \\
      -d '{"jsonrpc":"2.0","id":1,"method":"SendStreamingMessage","params":{"message":{"messageId":"2","role":"ROLE_USER","parts":[{"text":"stream 5 500"}]}}}'

  … over gRPC, without a schema
    npx buf curl --http2-prior-knowledge --protocol grpc -H 'a2a-version: 1.0' ${url}/lf.a2a.v1.A2AService/ListTasks
`;
}
