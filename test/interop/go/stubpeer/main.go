// A peer of grpc-go alone, with the stubs that its own tools make of our proto.
//
// It calls agents, and it is a gateway: a server that passes each call on to the agent that its argument names.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"strings"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"a2a-connect/interop/lines"
	a2a "a2a-connect/interop/stubs/a2a"
)

func dial(authority string) *grpc.ClientConn {
	conn, err := grpc.NewClient(authority, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		panic(err)
	}
	return conn
}

// caller makes a call with a request in JSON.
type caller func(ctx context.Context, request []byte, say lines.Say) error

func parse[Q proto.Message](request []byte) (Q, error) {
	var none Q
	parsed := none.ProtoReflect().New().Interface().(Q)
	return parsed, protojson.Unmarshal(request, parsed)
}

func format(say lines.Say, answer proto.Message) error {
	text, err := protojson.Marshal(answer)
	if err != nil {
		return err
	}
	return say(json.RawMessage(text))
}

func unary[Q, A proto.Message](method func(context.Context, Q, ...grpc.CallOption) (A, error)) caller {
	return func(ctx context.Context, request []byte, say lines.Say) error {
		parsed, err := parse[Q](request)
		if err != nil {
			return err
		}
		answer, err := method(ctx, parsed)
		if err != nil {
			return err
		}
		return format(say, answer)
	}
}

type eventStream = grpc.ServerStreamingClient[a2a.StreamResponse]

func streaming[Q proto.Message](method func(context.Context, Q, ...grpc.CallOption) (eventStream, error)) caller {
	return func(ctx context.Context, request []byte, say lines.Say) error {
		parsed, err := parse[Q](request)
		if err != nil {
			return err
		}
		events, err := method(ctx, parsed)
		return forEach(events, err, func(event *a2a.StreamResponse) error { return format(say, event) })
	}
}

func forEach(events eventStream, err error, do func(*a2a.StreamResponse) error) error {
	for err == nil {
		var event *a2a.StreamResponse
		if event, err = events.Recv(); err == nil {
			err = do(event)
		}
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

func call(ctx context.Context, order lines.Order, say lines.Say) error {
	conn := dial(order.Agent)
	defer func() { _ = conn.Close() }()
	agent := a2a.NewA2AServiceClient(conn)
	calls := map[string]caller{
		"SendMessage":                      unary(agent.SendMessage),
		"SendStreamingMessage":             streaming(agent.SendStreamingMessage),
		"SubscribeToTask":                  streaming(agent.SubscribeToTask),
		"GetTask":                          unary(agent.GetTask),
		"ListTasks":                        unary(agent.ListTasks),
		"CancelTask":                       unary(agent.CancelTask),
		"GetExtendedAgentCard":             unary(agent.GetExtendedAgentCard),
		"CreateTaskPushNotificationConfig": unary(agent.CreateTaskPushNotificationConfig),
		"GetTaskPushNotificationConfig":    unary(agent.GetTaskPushNotificationConfig),
		"ListTaskPushNotificationConfigs":  unary(agent.ListTaskPushNotificationConfigs),
		"DeleteTaskPushNotificationConfig": unary(agent.DeleteTaskPushNotificationConfig),
	}
	return calls[order.Method](metadata.AppendToOutgoingContext(ctx, "a2a-version", "1.0"), order.Request, say)
}

func describeError(err error) any {
	failure := status.Convert(err)
	described := map[string]any{"message": failure.Message(), "code": failure.Code().String()}
	for _, detail := range failure.Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok {
			described["reason"], described["domain"], described["metadata"] = info.Reason, info.Domain, info.Metadata
		}
	}
	return described
}

// gateway passes every call on, with the caller's service parameters.
type gateway struct {
	a2a.UnimplementedA2AServiceServer
	agent a2a.A2AServiceClient
}

func passOn(ctx context.Context) context.Context {
	received, _ := metadata.FromIncomingContext(ctx)
	passed := metadata.MD{}
	for key, values := range received {
		if strings.HasPrefix(key, "a2a-") {
			passed[key] = values
		}
	}
	return metadata.NewOutgoingContext(ctx, passed)
}

func (g gateway) SendMessage(ctx context.Context, request *a2a.SendMessageRequest) (*a2a.SendMessageResponse, error) {
	return g.agent.SendMessage(passOn(ctx), request)
}

func (g gateway) SendStreamingMessage(request *a2a.SendMessageRequest, caller grpc.ServerStreamingServer[a2a.StreamResponse]) error {
	events, err := g.agent.SendStreamingMessage(passOn(caller.Context()), request)
	return forEach(events, err, caller.Send)
}

func (g gateway) SubscribeToTask(request *a2a.SubscribeToTaskRequest, caller grpc.ServerStreamingServer[a2a.StreamResponse]) error {
	events, err := g.agent.SubscribeToTask(passOn(caller.Context()), request)
	return forEach(events, err, caller.Send)
}

func (g gateway) GetTask(ctx context.Context, request *a2a.GetTaskRequest) (*a2a.Task, error) {
	return g.agent.GetTask(passOn(ctx), request)
}

func (g gateway) ListTasks(ctx context.Context, request *a2a.ListTasksRequest) (*a2a.ListTasksResponse, error) {
	return g.agent.ListTasks(passOn(ctx), request)
}

func (g gateway) CancelTask(ctx context.Context, request *a2a.CancelTaskRequest) (*a2a.Task, error) {
	return g.agent.CancelTask(passOn(ctx), request)
}

func (g gateway) GetExtendedAgentCard(ctx context.Context, request *a2a.GetExtendedAgentCardRequest) (*a2a.AgentCard, error) {
	return g.agent.GetExtendedAgentCard(passOn(ctx), request)
}

func (g gateway) CreateTaskPushNotificationConfig(ctx context.Context, request *a2a.TaskPushNotificationConfig) (*a2a.TaskPushNotificationConfig, error) {
	return g.agent.CreateTaskPushNotificationConfig(passOn(ctx), request)
}

func (g gateway) GetTaskPushNotificationConfig(ctx context.Context, request *a2a.GetTaskPushNotificationConfigRequest) (*a2a.TaskPushNotificationConfig, error) {
	return g.agent.GetTaskPushNotificationConfig(passOn(ctx), request)
}

func (g gateway) ListTaskPushNotificationConfigs(ctx context.Context, request *a2a.ListTaskPushNotificationConfigsRequest) (*a2a.ListTaskPushNotificationConfigsResponse, error) {
	return g.agent.ListTaskPushNotificationConfigs(passOn(ctx), request)
}

func (g gateway) DeleteTaskPushNotificationConfig(ctx context.Context, request *a2a.DeleteTaskPushNotificationConfigRequest) (*emptypb.Empty, error) {
	return g.agent.DeleteTaskPushNotificationConfig(passOn(ctx), request)
}

func main() {
	listening, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	server := grpc.NewServer()
	a2a.RegisterA2AServiceServer(server, gateway{agent: a2a.NewA2AServiceClient(dial(os.Args[1]))})
	go func() { _ = server.Serve(listening) }()
	lines.Obey(map[string]string{"GRPC": listening.Addr().String()}, call, describeError)
	server.Stop()
}
