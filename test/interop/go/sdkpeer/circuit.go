package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"google.golang.org/protobuf/proto"

	"a2a-connect/interop/stubs/itk"
)

const (
	instructionType = "application/x-protobuf"
	finished        = "task-finished"
)

func readInstruction(message *a2a.Message) *itk.Instruction {
	for _, part := range message.Parts {
		if part.MediaType == instructionType {
			instruction := &itk.Instruction{}
			if proto.Unmarshal(part.Raw(), instruction) == nil {
				return instruction
			}
		}
	}
	return nil
}

func isHeld(instruction *itk.Instruction) bool {
	return instruction.GetReturnResponse().GetHoldTask() || slices.ContainsFunc(instruction.GetSteps().GetInstructions(), isHeld)
}

// followInstruction does what the instruction says as a task, whose statuses it emits.
func followInstruction(ctx context.Context, instruction *itk.Instruction, emit func(a2a.TaskState, string)) {
	texts, err := collect(ctx, instruction)
	if err != nil {
		emit(a2a.TaskStateFailed, err.Error())
		return
	}
	text := strings.Join(texts, "\n")
	if isHeld(instruction) {
		emit(a2a.TaskStateWorking, text+"\n"+finished)
		<-ctx.Done()
		return
	}
	emit(a2a.TaskStateCompleted, text)
}

func collect(ctx context.Context, instruction *itk.Instruction) ([]string, error) {
	switch step := instruction.Step.(type) {
	case *itk.Instruction_ReturnResponse:
		return []string{step.ReturnResponse.Response}, nil
	case *itk.Instruction_CallAgent:
		return callAgent(ctx, step.CallAgent)
	case *itk.Instruction_Steps:
		var texts []string
		for _, each := range step.Steps.Instructions {
			more, err := collect(ctx, each)
			if err != nil {
				return nil, err
			}
			texts = append(texts, more...)
		}
		return texts, nil
	default:
		return nil, fmt.Errorf("unknown step %T", step)
	}
}

func callAgent(ctx context.Context, order *itk.CallAgent) ([]string, error) {
	var webhook *a2a.PushConfig
	if url := order.GetPushNotification().GetUrl(); url != "" {
		webhook = &a2a.PushConfig{URL: url + "/notifications", Token: "itk-token"}
	}
	client, err := connect(ctx, order.AgentCardUri, order.Transport, webhook)
	if err != nil {
		return nil, err
	}
	defer func() { _ = client.Destroy() }()
	bytes, err := proto.Marshal(order.Instruction)
	if err != nil {
		return nil, err
	}
	part := a2a.NewRawPart(bytes)
	part.MediaType, part.Filename = instructionType, "instruction.bin"
	request := &a2a.SendMessageRequest{Message: a2a.NewMessage(a2a.MessageRoleUser, part)}
	if order.GetResubscribe() != nil {
		return resubscribe(ctx, client, request)
	}
	if !order.Streaming {
		answer, err := client.SendMessage(ctx, request)
		return textsOf(answer), err
	}
	var texts []string
	for event, err := range client.SendStreamingMessage(ctx, request) {
		if err != nil {
			return nil, err
		}
		texts = append(texts, textsOf(event)...)
	}
	return texts, nil
}

func resubscribe(ctx context.Context, client *a2aclient.Client, request *a2a.SendMessageRequest) ([]string, error) {
	var id a2a.TaskID
	for event, err := range client.SendStreamingMessage(ctx, request) {
		if err != nil {
			return nil, err
		}
		id = event.TaskInfo().TaskID
		break
	}
	for event, err := range client.SubscribeToTask(ctx, &a2a.SubscribeToTaskRequest{ID: id}) {
		if err != nil {
			return nil, err
		}
		if text := strings.Join(textsOf(event), "\n"); strings.Contains(text, finished) {
			_, err := client.CancelTask(ctx, &a2a.CancelTaskRequest{ID: id})
			return []string{strings.TrimSpace(strings.ReplaceAll(text, finished, ""))}, err
		}
	}
	return nil, fmt.Errorf("the subscription ended before %s", finished)
}

// textsOf is the texts of an answer: of a message, or of a task's status.
func textsOf(event a2a.Event) []string {
	var message *a2a.Message
	switch event := event.(type) {
	case *a2a.Message:
		message = event
	case *a2a.Task:
		message = event.Status.Message
	case *a2a.TaskStatusUpdateEvent:
		message = event.Status.Message
	}
	if message == nil {
		return nil
	}
	var texts []string
	for _, part := range message.Parts {
		if text := part.Text(); text != "" {
			texts = append(texts, text)
		}
	}
	return texts
}
