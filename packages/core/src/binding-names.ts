/** `protocolBinding` of the Connect protocol, which the specification does not name (spec §5.8: a URI). */
export const connectBinding = "urn:a2a-connect:binding:connect:v1";

/** `protocolBinding` of gRPC-Web, which the specification does not name either. */
export const grpcWebBinding = "urn:a2a-connect:binding:grpc-web:v1";
