package crypto

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/kobo-waas/kobo/internal/chain"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
)

// ConfirmJob asks where the transaction that the subject names stands now.
const ConfirmJob = "crypto.confirm"

const (
	// Custodians lag, and some call a transaction that waits for a block missing:
	// only one that was missing this often, over this long, is gone.
	missesNeeded = 3
	missingFor   = 10 * time.Minute
	// What was in a block that is gone gets this long to be told in another.
	lostFor = time.Minute
	// How long until the next question, at least and at most.
	askSoonest = 2 * time.Second
	askLatest  = 10 * time.Minute
)

func (t Transaction) subject() string { return strconv.FormatInt(t.ID, 10) }

func (t Transaction) confirmJob(at time.Time) db.Record {
	return job.NewFor(t.custody, t.Company, ConfirmJob, t.subject(), at)
}

// verdict is what an answer means for a transaction.
type verdict int8

const (
	wait   verdict = iota // ask again later
	missed                // it was asked for in vain
	done                  // enough blocks confirm it
	gone                  // it did not happen, and nothing more is to be waited for
)

// Confirm is the work of a ConfirmJob.
func (s *Service) Confirm(ctx context.Context, j job.Job) (next time.Time, err error) {
	number, err := strconv.ParseInt(j.Subject, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("crypto: no transaction is named %q", j.Subject)
	}
	t, err := s.findTransaction(ctx, j.Company, number)
	if errors.Is(err, db.ErrNone) || err == nil && t.Status == Failed {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, err
	}
	custody, known := s.custodies[t.custody]
	n, listed := s.networks[t.NetworkID]
	if !known || !listed {
		return time.Time{}, fmt.Errorf("crypto: %s or %s is not configured", t.custody, t.NetworkID)
	}
	at, err := custody.Plug.Inclusion(ctx, n, t.Hash)
	if err != nil {
		return time.Time{}, err
	}
	if t.Status == Completed {
		return s.recheck(ctx, n, t, at, j.Attempts)
	}
	v := t.judge(n, at, s.Clock.Now())
	if v == done || v == gone {
		err = s.end(ctx, t, v, at)
		if ledger.Is(err, ledger.Moved) {
			err = nil // somebody else has ended it
		}
		return time.Time{}, err
	}
	if v == missed {
		err = s.miss(ctx, t)
	}
	return s.Clock.Now().Add(t.pause(n, at)), err
}

// judge decides what the custodian's answer means. A transaction is completed
// only in the block in which it was told: after a reorganisation it may be in
// another one and do something else there, so it must be told again.
func (t Transaction) judge(n chain.Network, at provider.Inclusion, now time.Time) verdict {
	deep := at.Depth() >= n.Confirmations
	lost := !t.lostAt.IsZero() && now.Sub(t.lostAt) >= lostFor
	switch {
	case at.Found && at.Reverted && deep:
		return gone
	case at.Found && deep && lost:
		return gone // the reading has passed its new block, and did not tell of it
	case at.Found && deep && t.lostAt.IsZero() && (t.blockHash == "" || at.BlockHash == "" || t.blockHash == at.BlockHash):
		return done
	case at.Found || at.Waiting:
		return wait
	case lost && at.Head-t.Block+1 >= n.Confirmations:
		return gone
	case t.misses+1 >= missesNeeded && now.Sub(t.UpdatedAt) >= missingFor:
		return gone
	}
	return missed
}

// pause is how long it takes until the answer can be another: the blocks that
// are wanting, or a block's time for one that is in none.
func (t Transaction) pause(n chain.Network, at provider.Inclusion) time.Duration {
	wanting := int64(1)
	if at.Found {
		wanting = max(1, n.Confirmations-at.Depth())
	}
	return min(max(time.Duration(wanting*n.BlockSeconds)*time.Second, askSoonest), askLatest)
}

// end gives a pending transaction its last state, with the event that says so.
func (s *Service) end(ctx context.Context, t Transaction, v verdict, at provider.Inclusion) error {
	now := s.Clock.Now()
	changes := []ledger.Change{}
	t.Status = Failed
	if v == done {
		t.Status, t.Block = Completed, at.Block
		if at.BlockHash != "" {
			t.blockHash = at.BlockHash
		}
		changes = append(changes,
			ledger.Change{Column: "block_number", Value: t.Block}, ledger.Change{Column: "block_hash", Value: t.blockHash})
	}
	t.UpdatedAt = now
	return s.Book.Commit(ctx, ledger.Unit{
		Company: t.Company, Moves: []ledger.Move{t.move(t.Status, now, changes...)},
		Notes: []db.Record{event.New(t.Company, endings[t.Type][t.Status], t)},
	})
}

var endings = map[Type]map[Status]string{
	Deposit:    {Completed: event.CryptoDepositCompleted, Failed: event.CryptoDepositFailed},
	Withdrawal: {Completed: event.CryptoWithdrawalCompleted, Failed: event.CryptoWithdrawalFailed},
}

// miss counts a question in vain. The time of the last change stays: it is what
// patience is counted from.
func (s *Service) miss(ctx context.Context, t Transaction) error {
	err := s.Book.Commit(ctx, ledger.Unit{
		Company: t.Company, Moves: []ledger.Move{t.move(Pending, t.UpdatedAt, ledger.Change{Column: "misses", Value: t.misses + 1})},
	})
	if ledger.Refused(err) != nil {
		return nil // it has been told again, or is ended
	}
	return err
}

// recheck looks at a completed transaction whose block is gone. Its state stays:
// the company has acted on it. If it is nowhere any more, having been asked for
// often enough, a human must know.
func (s *Service) recheck(ctx context.Context, n chain.Network, t Transaction, at provider.Inclusion, asked int64) (next time.Time, err error) {
	switch {
	case at.Found && !at.Reverted:
		return time.Time{}, nil
	case at.Waiting || asked < missesNeeded:
		return s.Clock.Now().Add(missingFor / missesNeeded), nil
	}
	return time.Time{}, s.Operations.OpenCase(ctx, t.Company, "crypto transaction "+t.subject(), operation.Contradiction,
		fmt.Sprintf("completed in block %d of %s, which is gone: the transaction %s is not in the chain any more", t.Block, n.ID, t.Hash))
}
