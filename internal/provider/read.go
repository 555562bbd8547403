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

// How patient reads are: three tries; a rest of five seconds once 10 of the
// last 20 tries failed, so that a provider on its knees is left alone; and no
// more than 32 at a time.
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

var errInTrouble = errors.New("no whole answer")

// patience is the policy of reads. These libraries repeat a POST as gladly as a
// GET, which is why payments never come here.
func patience() failsafe.Executor[Reply] {
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

// Read sends a call that may be repeated: a list, a token, a requery. It tries
// again after anything but an answer that was read whole, until ReadDeadline.
func (c *Client) Read(ctx context.Context, call Call) Reply {
	ctx, cancel := context.WithTimeout(ctx, c.readDeadline)
	defer cancel()
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
	default: // the breaker is open, or it was never our turn
		return Reply{Trouble: CodeNotSent, Cause: err}
	}
}
