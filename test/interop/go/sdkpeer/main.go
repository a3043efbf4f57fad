// A peer of the official Go SDK: an agent over its three bindings, and a caller over each of them.
//
// The agent knows some commands of the reference agent (`echo`, `task`, `stream`, `ask`, `sleep`, `fail`), and the
// instructions of the circuit.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"
	a2agrpc "github.com/a2aproject/a2a-go/v2/a2agrpc/v1"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/a2aproject/a2a-go/v2/a2asrv/push"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"a2a-connect/interop/lines"
)

// connect makes a client of the SDK for the agent at that URL.
func connect(ctx context.Context, agent, binding string, webhook *a2a.PushConfig) (*a2aclient.Client, error) {
	card, err := agentcard.DefaultResolver.Resolve(ctx, agent)
	if err != nil {
		return nil, err
	}
	var wanted []*a2a.AgentInterface
	for _, each := range card.SupportedInterfaces {
		if string(each.ProtocolBinding) == binding {
			wanted = append(wanted, each)
		}
	}
	card.SupportedInterfaces = wanted
	return a2aclient.NewFromCard(ctx, card,
		a2agrpc.WithGRPCTransport(grpc.WithTransportCredentials(insecure.NewCredentials())),
		a2aclient.WithConfig(a2aclient.Config{PushConfig: webhook}))
}

// caller makes a call with a request in JSON.
type caller func(ctx context.Context, request []byte, say lines.Say) error

func unary[Q, A any](method func(context.Context, *Q) (A, error), shape func(A) any) caller {
	return func(ctx context.Context, request []byte, say lines.Say) error {
		parsed := new(Q)
		if err := json.Unmarshal(request, parsed); err != nil {
			return err
		}
		answer, err := method(ctx, parsed)
		if err != nil {
			return err
		}
		return say(shape(answer))
	}
}

func streaming[Q any](method func(context.Context, *Q) iter.Seq2[a2a.Event, error]) caller {
	return func(ctx context.Context, request []byte, say lines.Say) error {
		parsed := new(Q)
		if err := json.Unmarshal(request, parsed); err != nil {
			return err
		}
		for event, err := range method(ctx, parsed) {
			if err != nil {
				return err
			}
			if err := say(a2a.StreamResponse{Event: event}); err != nil {
				return err
			}
		}
		return nil
	}
}

func asItIs[A any](answer A) any { return answer }

func call(ctx context.Context, order lines.Order, say lines.Say) error {
	if order.Method == "GetAgentCard" {
		card, err := agentcard.DefaultResolver.Resolve(ctx, order.Agent)
		if err != nil {
			return err
		}
		return say(card)
	}
	client, err := connect(ctx, order.Agent, order.Binding, nil)
	if err != nil {
		return err
	}
	defer func() { _ = client.Destroy() }()
	remove := func(ctx context.Context, request *a2a.DeleteTaskPushConfigRequest) (struct{}, error) {
		return struct{}{}, client.DeleteTaskPushConfig(ctx, request)
	}
	calls := map[string]caller{
		"SendMessage": unary(client.SendMessage, func(answer a2a.SendMessageResult) any {
			return a2a.StreamResponse{Event: answer}
		}),
		"SendStreamingMessage":             streaming(client.SendStreamingMessage),
		"SubscribeToTask":                  streaming(client.SubscribeToTask),
		"GetTask":                          unary(client.GetTask, asItIs),
		"ListTasks":                        unary(client.ListTasks, asItIs),
		"CancelTask":                       unary(client.CancelTask, asItIs),
		"GetExtendedAgentCard":             unary(client.GetExtendedAgentCard, asItIs),
		"CreateTaskPushNotificationConfig": unary(client.CreateTaskPushConfig, asItIs),
		"GetTaskPushNotificationConfig":    unary(client.GetTaskPushConfig, asItIs),
		"ListTaskPushNotificationConfigs": unary(client.ListTaskPushConfigs, func(configs []*a2a.PushConfig) any {
			return map[string]any{"configs": append([]*a2a.PushConfig{}, configs...)}
		}),
		"DeleteTaskPushNotificationConfig": unary(remove, asItIs),
	}
	return calls[order.Method](ctx, order.Request, say)
}

func describeError(err error) any {
	return map[string]any{"reason": a2a.ErrorReason(err), "message": err.Error()}
}

type agent struct{}

func textOf(message *a2a.Message) string {
	var texts []string
	for _, part := range message.Parts {
		texts = append(texts, part.Text())
	}
	return strings.Join(texts, "\n")
}

func say(task a2a.TaskInfoProvider, text string) *a2a.Message {
	return a2a.NewMessageForTask(a2a.MessageRoleAgent, task, a2a.NewTextPart(text))
}

func artifact(task a2a.TaskInfoProvider, name string, parts ...*a2a.Part) *a2a.TaskArtifactUpdateEvent {
	event := a2a.NewArtifactEvent(task, parts...)
	event.Artifact.Name = name
	return event
}

func (agent) Execute(ctx context.Context, task *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		emit := func(events ...a2a.Event) bool {
			for _, event := range events {
				if !yield(event, nil) {
					return false
				}
			}
			return true
		}
		status := func(state a2a.TaskState, message *a2a.Message) a2a.Event {
			return a2a.NewStatusUpdateEvent(task, state, message)
		}
		text := textOf(task.Message)
		command, words, _ := strings.Cut(text, " ")
		if command == "echo" {
			emit(a2a.NewMessage(a2a.MessageRoleAgent, a2a.NewTextPart(words)))
			return
		}
		if task.StoredTask == nil {
			if !emit(a2a.NewSubmittedTask(task, task.Message)) {
				return
			}
			if command == "ask" {
				emit(status(a2a.TaskStateInputRequired, say(task, words)))
				return
			}
		}
		if !emit(status(a2a.TaskStateWorking, nil)) {
			return
		}
		if instruction := readInstruction(task.Message); instruction != nil {
			followInstruction(ctx, instruction, func(state a2a.TaskState, text string) {
				emit(status(state, say(task, text)))
			})
			return
		}
		switch command {
		case "stream":
			count, _ := strconv.Atoi(words)
			for index := 1; index <= count; index++ {
				chunk := a2a.NewArtifactUpdateEvent(task, "stream", a2a.NewTextPart(fmt.Sprintf("chunk %d ", index)))
				chunk.Append = index > 1
				if !emit(chunk) {
					return
				}
			}
		case "sleep":
			<-ctx.Done()
			return
		case "fail":
			emit(status(a2a.TaskStateFailed, say(task, words)))
			return
		case "task":
			emit(artifact(task, "result", a2a.NewTextPart(words)))
		default: // the answer to a question, or what only comes back
			emit(artifact(task, "answer", task.Message.Parts...))
		}
		emit(status(a2a.TaskStateCompleted, nil))
	}
}

func (agent) Cancel(_ context.Context, task *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		yield(a2a.NewStatusUpdateEvent(task, a2a.TaskStateCanceled, nil), nil)
	}
}

func listen() net.Listener {
	listening, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	return listening
}

func main() {
	slog.SetDefault(slog.New(slog.NewTextHandler(io.Discard, nil))) // the SDK logs each error that it answers with
	overHTTP, overGRPC := listen(), listen()
	url := "http://" + overHTTP.Addr().String()
	ready := map[string]string{
		"url": url, "JSONRPC": url + "/rpc", "HTTP+JSON": url + "/rest", "GRPC": overGRPC.Addr().String(),
	}
	var interfaces []*a2a.AgentInterface
	for _, binding := range []string{"JSONRPC", "HTTP+JSON", "GRPC"} {
		interfaces = append(interfaces, a2a.NewAgentInterface(ready[binding], a2a.TransportProtocol(binding)))
	}
	modes := []string{"text/plain", "application/json", "application/octet-stream"}
	card := &a2a.AgentCard{
		Name:                "Go",
		Description:         "An agent of the official Go SDK.",
		Version:             "1.0.0",
		SupportedInterfaces: interfaces,
		Capabilities:        a2a.AgentCapabilities{Streaming: true, PushNotifications: true, ExtendedAgentCard: true},
		DefaultInputModes:   modes,
		DefaultOutputModes:  modes,
		Skills: []a2a.AgentSkill{
			{ID: "commands", Name: "Commands", Description: "Does what a text says.", Tags: []string{"test"}},
		},
	}
	sender := push.NewHTTPPushSender(&push.HTTPSenderConfig{AllowPrivateNetworks: true})
	// The store by default lists tasks for callers with credentials alone, and refuses all others.
	anyone := func(context.Context) (string, error) { return "anyone", nil }
	handler := a2asrv.NewHandler(agent{},
		a2asrv.WithTaskStore(taskstore.NewInMemory(&taskstore.InMemoryStoreConfig{Authenticator: anyone})),
		a2asrv.WithExtendedAgentCard(card),
		a2asrv.WithPushNotifications(push.NewInMemoryStore(), sender))
	mux := http.NewServeMux()
	mux.Handle(a2asrv.WellKnownAgentCardPath, a2asrv.NewStaticAgentCardHandler(card))
	mux.Handle("/rpc", a2asrv.NewJSONRPCHandler(handler))
	mux.Handle("/rest/", http.StripPrefix("/rest", a2asrv.NewRESTHandler(handler)))
	go func() { _ = http.Serve(overHTTP, mux) }()
	server := grpc.NewServer()
	a2agrpc.NewHandler(handler).RegisterWith(server)
	go func() { _ = server.Serve(overGRPC) }()
	lines.Obey(ready, call, describeError)
	server.Stop()
}
