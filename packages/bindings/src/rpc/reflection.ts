import { runtimeKey } from "@a2a-connect/core/internal";
import { file_google_rpc_error_details } from "@a2a-connect/proto/google/rpc/error_details";
import {
  ServerReflection,
  type ServerReflectionRequest,
  ServerReflectionRequestSchema,
  type ServerReflectionResponse,
  ServerReflectionResponseSchema,
} from "@a2a-connect/proto/grpc/reflection/v1";
import {
  ServerReflectionRequestSchema as AlphaRequestSchema,
  ServerReflectionResponseSchema as AlphaResponseSchema,
  ServerReflection as ServerReflectionAlpha,
} from "@a2a-connect/proto/grpc/reflection/v1alpha";
import { create, type DescService, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError, type ConnectRouter, type HandlerContext } from "@connectrpc/connect";
import { nextSlice } from "../next-slice.ts";
import { createFileCatalogue, type FileCatalogue } from "./file-catalogue.ts";

/** The services that a caller may ask about. */
export interface ReflectionOptions {
  /** The listed services. A caller can fetch their files, all imports of these, and the details of errors. */
  readonly services: readonly DescService[];
}

/**
 * Serves gRPC server reflection, v1 and v1alpha, so that grpcurl and `buf curl` need no schema. It is a stream in both
 * directions and so needs HTTP/2.
 */
export function registerReflection(router: ConnectRouter, { services }: ReflectionOptions): void {
  const listed = [...services, ServerReflection, ServerReflectionAlpha];
  const names = listed.map(({ typeName }) => typeName);
  // No service imports the details of errors, but tools need them to show errors.
  const files = createFileCatalogue([...listed.map(({ file }) => file), file_google_rpc_error_details]);

  router.service(ServerReflection, {
    async *serverReflectionInfo(requests, context) {
      for await (const request of inTurns(requests, context)) {
        yield answer(request, names, files);
      }
    },
  });
  // The same messages under another name, so their bytes are the same, too.
  router.service(ServerReflectionAlpha, {
    async *serverReflectionInfo(requests, context) {
      for await (const alpha of inTurns(requests, context)) {
        const request = fromBinary(ServerReflectionRequestSchema, toBinary(AlphaRequestSchema, alpha));
        const response = answer(request, names, files);
        yield fromBinary(AlphaResponseSchema, toBinary(ServerReflectionResponseSchema, response));
      }
    },
  });
}

/** Questions in one stream. A client that fetches every file asks some dozens. */
const maxQuestions = 1_000;

/** Lets other calls run between the questions, because one packet may contain thousands of them. */
async function* inTurns<Request>(
  requests: AsyncIterable<Request>,
  { values }: HandlerContext,
): AsyncGenerator<Request> {
  const { callerNetwork } = values.get(runtimeKey);
  let asked = 0;
  for await (const request of requests) {
    asked += 1;
    if (asked > maxQuestions) {
      throw new ConnectError(
        `a stream may ask ${maxQuestions} questions; ask the others on another`,
        Code.ResourceExhausted,
      );
    }
    yield request;
    await nextSlice(callerNetwork);
  }
}

function answer(
  request: ServerReflectionRequest,
  names: readonly string[],
  files: FileCatalogue,
): ServerReflectionResponse {
  return create(ServerReflectionResponseSchema, {
    validHost: request.host,
    originalRequest: request,
    messageResponse: findAnswer(request.messageRequest, names, files) ?? notFound,
  });
}

type Answer = NonNullable<MessageInitShape<typeof ServerReflectionResponseSchema>["messageResponse"]>;

const notFound: Answer = {
  case: "errorResponse",
  value: { errorCode: Code.NotFound, errorMessage: "this server has no file, service or type of that name" },
};

function findAnswer(
  question: ServerReflectionRequest["messageRequest"],
  names: readonly string[],
  files: FileCatalogue,
): Answer | undefined {
  switch (question.case) {
    case "listServices":
      return { case: "listServicesResponse", value: { service: names.map((name) => ({ name })) } };
    case "fileByFilename":
      return toFiles(files.byName(question.value));
    case "fileContainingSymbol":
      return toFiles(files.bySymbol(question.value));
    case "fileContainingExtension":
      return toFiles(files.byExtension(question.value.containingType, question.value.extensionNumber));
    case "allExtensionNumbersOfType": {
      const extensionNumber = files.extensionNumbers(question.value);
      return (
        extensionNumber && {
          case: "allExtensionNumbersResponse",
          value: { baseTypeName: question.value, extensionNumber },
        }
      );
    }
    case undefined:
      return {
        case: "errorResponse",
        value: { errorCode: Code.InvalidArgument, errorMessage: "the request has no question" },
      };
  }
}

function toFiles(fileDescriptorProto: Uint8Array[] | undefined): Answer | undefined {
  return fileDescriptorProto && { case: "fileDescriptorResponse", value: { fileDescriptorProto } };
}
