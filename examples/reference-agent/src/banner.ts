/**
 * What to try first.
 *
 * @param auth the flag `--auth`: then calls need credentials
 */
export function renderBanner(url: string, auth: string | undefined): string {
  const isKey = auth?.startsWith("api-key=") === true;
  const credential =
    auth === undefined ? "" : ` -H "${isKey ? "X-API-Key: $KEY" : "Authorization: Bearer $TOKEN"}"`;
  const needs = isKey
    ? "  Calls need an API key, in KEY here and in A2ACLI_API_KEY for a2a\n\n"
    : `  Calls need a token, in TOKEN here; a2a gets its own: npx a2a-connect auth login -a ${url} --client-id ID\n\n`;
  return `
  agent card   ${url}/.well-known/agent-card.json

${auth === undefined ? "" : needs}  Try it over HTTP+JSON
    curl ${url}/rest/message:send -H 'A2A-Version: 1.0' -H 'Content-Type: application/json'${credential} \\
      -d '{"message":{"messageId":"1","role":"ROLE_USER","parts":[{"text":"task hello"}]}}'

  … over JSON-RPC, streaming
    curl -N ${url}/rpc -H 'A2A-Version: 1.0' -H 'Content-Type: application/json'${credential} \\
      -d '{"jsonrpc":"2.0","id":1,"method":"SendStreamingMessage","params":{"message":{"messageId":"2","role":"ROLE_USER","parts":[{"text":"stream 5 500"}]}}}'

  … over gRPC, without a schema
    npx @bufbuild/buf curl --http2-prior-knowledge --protocol grpc -H 'a2a-version: 1.0'${credential} ${url}/lf.a2a.v1.A2AService/ListTasks
`;
}
