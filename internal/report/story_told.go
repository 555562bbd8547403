package report

import (
	"context"
	"fmt"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
)

// delivery is an event that was sent to a webhook, with the result of its last attempt.
type delivery struct {
	id, endpoint, kind, state, trouble string
	sequence, attempts, status, took   int64 // took is in milliseconds
	updated, next                      time.Time
}

// tried is a failed attempt of a delivery.
type tried struct {
	delivery, trouble     string
	attempt, status, took int64
	at                    time.Time
}

// said returns the answer of an attempt in words.
func said(status int64, trouble string) (out string) {
	if status != 0 {
		out = fmt.Sprintf(", status %d", status)
	}
	if trouble != "" {
		out += ", " + MaskText(trouble)
	}
	return out
}

// deliverySteps returns the attempts of the deliveries of events to the company's webhooks. The last attempt
// of a delivery shows the state of the delivery. Successive failed attempts with the same answer are one step.
func deliverySteps(ctx context.Context, q db.Querier, company string, events []string) (steps []Step, err error) {
	if len(events) == 0 {
		return nil, nil
	}
	list, err := db.All(ctx, q, db.Fields[delivery], `SELECT id, endpoint_id, kind, state, trouble, sequence, attempts, status, latency_ms, updated_at, next_at
		FROM webhook_delivery WHERE company_id = $1 AND event_id = ANY($2) ORDER BY updated_at, id`, company, events)
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(list))
	for i, d := range list {
		ids[i] = d.id
	}
	failed, err := db.All(ctx, q, db.Fields[tried], `SELECT delivery_id, trouble, attempt, status, latency_ms, created_at
		FROM webhook_attempt WHERE company_id = $1 AND delivery_id = ANY($2) ORDER BY delivery_id, attempt`, company, ids)
	if err != nil {
		return nil, err
	}
	of := map[string][]tried{}
	for _, a := range failed {
		of[a.delivery] = append(of[a.delivery], a)
	}
	for _, d := range list {
		steps = append(append(steps, d.tries(of[d.id])...), d.last())
	}
	return steps, nil
}

// last returns the step of the last attempt, or of a delivery that waits for its first one.
func (d delivery) last() Step {
	text := fmt.Sprintf("%s: %s, %d attempts", d.name(), d.state, d.attempts)
	if words := said(d.status, d.trouble); words != "" {
		text += ", last" + words[1:]
	}
	if d.attempts > 0 {
		text += fmt.Sprintf(", after %d ms", d.took)
	}
	step := Step{At: d.updated, What: "delivery", Text: text, Event: d.sequence, Delivery: d.id}
	if d.state == "PENDING" {
		step.NextAttemptAt = d.next
	}
	return step
}

// name says which event went where.
func (d delivery) name() string {
	return fmt.Sprintf("%s, number %d, to webhook %s", d.kind, d.sequence, d.endpoint)
}

// tries returns the steps of the failed attempts before the last one.
func (d delivery) tries(list []tried) (steps []Step) {
	for len(list) > 0 && list[0].attempt < d.attempts {
		first, n := list[0], 1
		for n < len(list) && list[n].attempt < d.attempts && list[n].status == first.status && list[n].trouble == first.trouble {
			n++
		}
		text := fmt.Sprintf("%s: attempt %d failed%s, after %d ms", d.name(), first.attempt, said(first.status, first.trouble), first.took)
		if n > 1 {
			text = fmt.Sprintf("%s: attempts %d to %d failed alike%s, the last at %s",
				d.name(), first.attempt, list[n-1].attempt, said(first.status, first.trouble), clock.Text(list[n-1].at))
		}
		steps = append(steps, Step{At: first.at, What: "delivery", Text: text, Event: d.sequence})
		list = list[n:]
	}
	return steps
}
