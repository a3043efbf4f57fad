// Package lines is how a test directs a peer: the same lines of JSON as in python/lines.py.
package lines

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"sync"
)

// Order is a call to make, or one to leave.
type Order struct {
	ID      int             `json:"id"`
	Agent   string          `json:"agent"`
	Binding string          `json:"binding"`
	Method  string          `json:"method"`
	Request json.RawMessage `json:"request"`
	Leave   bool            `json:"leave"`
}

// Say takes one answer of a call.
type Say func(answer any) error

// Obey makes the calls that come in on standard input, side by side, until it ends.
func Obey(ready any, call func(context.Context, Order, Say) error, describeError func(error) any) {
	var saying, reading sync.Mutex
	out := json.NewEncoder(os.Stdout)
	say := func(line any) error {
		saying.Lock()
		defer saying.Unlock()
		return out.Encode(line)
	}
	_ = say(map[string]any{"ready": ready})
	calls := map[int]context.CancelFunc{}
	input := bufio.NewScanner(os.Stdin)
	input.Buffer(nil, 1<<24)
	for input.Scan() {
		var order Order
		if err := json.Unmarshal(input.Bytes(), &order); err != nil {
			panic(err)
		}
		reading.Lock()
		if order.Leave {
			if leave, ok := calls[order.ID]; ok {
				leave()
			}
			reading.Unlock()
			continue
		}
		ctx, leave := context.WithCancel(context.Background())
		calls[order.ID] = leave
		reading.Unlock()
		go func() {
			err := call(ctx, order, func(answer any) error {
				return say(map[string]any{"id": order.ID, "answer": answer})
			})
			last := map[string]any{"id": order.ID, "end": true}
			if err != nil && ctx.Err() == nil {
				last = map[string]any{"id": order.ID, "error": describeError(err)}
			}
			reading.Lock()
			delete(calls, order.ID)
			reading.Unlock()
			leave()
			_ = say(last)
		}()
	}
}
