package provider

import (
	"context"
	"errors"
	"time"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/bulkhead"
	"github.com/failsafe-go/failsafe-go/circuitbreaker"
	"github.com/failsafe-go/failsafe-go/retrypolicy"
)

// These constants limit reads, which are requests that may be repeated. A read is sent at most
// three times, and at most 32 reads run concurrently. If 10 of the last 20 tries failed, no read is
// sent for five seconds. The pause lets an overloaded provider recover.
const (
	readTries      = 3
	breakerFailed  = 10
	breakerOf      = 20
	breakerRest    = 5 * time.Second
	readsAtOnce    = 32
	waitForATurn   = 2 * time.Second
	firstReadPause = 100 * time.Millisecond
	lastReadPause  = time.Second
)

var errInTrouble = errors.New("the answer is incomplete")

// readPolicy returns the retry policy of reads. The library also repeats POST requests, so payments
// never use this policy.
func readPolicy() failsafe.Executor[Reply] {
	retry := retrypolicy.NewBuilder[Reply]().
		WithMaxAttempts(readTries).
		WithBackoff(firstReadPause, lastReadPause).
		WithJitterFactor(0.25).
		AbortOnErrors(circuitbreaker.ErrOpen, bulkhead.ErrFull, context.Canceled, context.DeadlineExceeded).
		ReturnLastFailure().
		Build()
	breaker := circuitbreaker.NewBuilder[Reply]().
		WithFailureThresholdRatio(breakerFailed, breakerOf).
		WithDelay(breakerRest).
		Build()
	turn := bulkhead.NewBuilder[Reply](readsAtOnce).WithMaxWaitTime(waitForATurn).Build()
	return failsafe.With[Reply](retry, turn, breaker)
}

// Read sends a request that may be repeated, such as a request for a list, for an access token or
// for the outcome of a payment. If no complete response arrives, Read sends the request again. It
// sends the request at most three times, and stops at the deadline for reads.
func (c *Client) Read(ctx context.Context, call Call) Reply {
	ctx, cancel := context.WithTimeout(ctx, c.readDeadline)
	defer cancel()
	start := time.Now()
	return c.meter.reply(call, start, c.read(ctx, call))
}

// read sends a request, and sends it again as Read states.
func (c *Client) read(ctx context.Context, call Call) Reply {
	var last Reply
	_, err := c.reading.WithContext(ctx).Get(func() (Reply, error) {
		last = c.send(ctx, c.plain, call)
		if last.Trouble != "" {
			return last, errInTrouble
		}
		return last, nil
	})
	switch {
	case err == nil, last.Trouble != "":
		return last
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return Reply{Trouble: CodeTimeout, Cause: err}
	default: // the circuit breaker is open, or too many reads were running
		return Reply{Trouble: CodeNotSent, Cause: err}
	}
}
