package crypto

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/kobo-waas/kobo/internal/chain"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
)

// ConfirmJob is the kind of job that asks the custodian about a transaction. The job's subject is
// the transaction's number.
const ConfirmJob = "crypto.confirm"

const (
	// Kobo treats a transaction as failed after missesNeeded searches in a row in which the custodian
	// did not find it. The first and the last miss are at least missingFor apart. A single miss is not
	// enough, because custodians lag. Some custodians also hide transactions that are not in a block yet.
	missesNeeded = 3
	missingFor   = 10 * time.Minute
	// lostFor is how long a transaction of a removed block may take to appear in a new block.
	lostFor = time.Minute
	// askSoonest and askLatest are the shortest and the longest pause before Kobo asks again.
	askSoonest = 2 * time.Second
	askLatest  = 10 * time.Minute
)

// seekAgain are the ages of a failure at which Kobo asks again for a transaction that failed because the custodian did not find it.
var seekAgain = []time.Duration{time.Hour, 24 * time.Hour}

func (t Transaction) subject() string { return strconv.FormatInt(t.ID, 10) }

func (t Transaction) confirmJob(at time.Time) db.Record {
	return job.Job{Kind: ConfirmJob, Subject: t.subject(), Provider: t.custody, RunAt: at}.For(t.Company)
}

// verdict is what Kobo does after a custodian's reply.
type verdict int8

const (
	wait   verdict = iota // the custodian must be asked again later
	missed                // the custodian did not find the transaction
	done                  // enough blocks confirm the transaction
	gone                  // the transaction has failed
)

// Confirm runs a ConfirmJob: it asks the custodian for the transaction and records the outcome.
func (s *Service) Confirm(ctx context.Context, j job.Job) (next time.Time, err error) {
	number, err := strconv.ParseInt(j.Subject, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("crypto: no transaction is named %q", j.Subject)
	}
	t, err := s.findTransaction(ctx, j.Company, number)
	if errors.Is(err, db.ErrNone) || err == nil && t.Status == Failed && !t.mayBeFound() {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, err
	}
	custody, known := s.custodian(t)
	n, listed := s.networks[t.NetworkID]
	if !known || !listed {
		return time.Time{}, fmt.Errorf("crypto: %s or %s is not configured", t.custody, t.NetworkID)
	}
	at, err := custody.Plug.Inclusion(ctx, n, t.Hash)
	if err != nil {
		return time.Time{}, err
	}
	switch t.Status {
	case Completed:
		return s.recheck(ctx, n, t, at, j.Attempts)
	case Failed:
		return s.seek(ctx, t, at)
	}
	return s.follow(ctx, n, t, at, custody.Name == t.custody)
}

// custodian returns the custodian that reported a transaction. If it is not configured any more, custodian returns the one that
// watches the network now.
func (s *Service) custodian(t Transaction) (c Custody, known bool) {
	if c, known = s.custodies[t.custody]; !known {
		c, known = s.custodies[s.custodyOf[t.NetworkID]]
	}
	return c, known
}

// follow records what a custodian's reply means for a pending transaction. The parameter reader is true for the reply of the
// custodian that reported the transaction.
func (s *Service) follow(ctx context.Context, n chain.Network, t Transaction, at provider.Inclusion, reader bool) (next time.Time, err error) {
	now := s.Clock.Now()
	v := t.judge(n, at, reader, now)
	switch {
	case v == done || v == gone:
		err = s.end(ctx, t, v, at)
		if ledger.Is(err, ledger.Moved) {
			return now, nil // the row has changed since it was read, so the job runs again and reads the new row
		}
		if err == nil && v == gone && !at.Found && t.mayBeFound() {
			next = now.Add(seekAgain[0])
		}
		return next, err
	case v == missed:
		err = s.miss(ctx, t)
	case t.misses > 0:
		err = s.setMisses(ctx, t, 0)
	}
	return now.Add(t.pause(n, at)), err
}

// judge returns the verdict that follows from the custodian's reply. A transaction completes only
// in the block in which the custodian reported it. If the chain is reorganised, the same
// transaction may have a different effect in its new block. It then completes only after the
// custodian has reported it in the new block. A node whose last block is before the transaction's
// block cannot know the transaction, so it does not miss it. It may have been restarted, or it may
// still read the chain. A node that has read the transaction's block, and has not lost it since, does
// not miss it either. Its look-up contradicts its own reading, which tells of each removed block.
func (t Transaction) judge(n chain.Network, at provider.Inclusion, reader bool, now time.Time) verdict {
	deep := at.Found && at.IsFinal(at.Block, n.Confirmations)
	lost := !t.lostAt.IsZero() && now.Sub(t.lostAt) >= lostFor
	read := reader && t.blockHash != "" && t.lostAt.IsZero() // only a node's own reading names the hash of the block
	switch {
	case at.Found && at.Reverted && deep:
		return gone
	case at.Found && deep && lost:
		return gone // the transaction is in a new block, but the custodian did not report its movement again
	case at.Found && deep && t.lostAt.IsZero() && t.isIn(at):
		return done
	case at.Found || at.Waiting || at.Head < t.Block || read:
		return wait
	case lost && at.IsFinal(t.Block, n.Confirmations):
		return gone
	case t.misses+1 >= missesNeeded && now.Sub(t.UpdatedAt) >= missingFor: // UpdatedAt is the time of the first miss
		return gone
	}
	return missed
}

// isIn reports whether the custodian has found the transaction in the block in which it was reported, as far as both name the
// hash of the block.
func (t Transaction) isIn(at provider.Inclusion) bool {
	return t.blockHash == "" || at.BlockHash == "" || t.blockHash == at.BlockHash
}

// pause returns the time to wait before Kobo asks the custodian again. This is the usual time for
// the missing blocks, or for one block if the transaction is not in a block yet. A tag of finality
// moves by many blocks together, so the pause is then a part of the distance.
func (t Transaction) pause(n chain.Network, at provider.Inclusion) time.Duration {
	wanting := int64(1)
	switch {
	case at.Found && at.Tagged:
		wanting = max(1, (at.Block-at.Final)/8)
	case at.Found:
		wanting = max(1, n.Confirmations-at.Depth())
	}
	return min(max(time.Duration(wanting*n.BlockSeconds)*time.Second, askSoonest), askLatest)
}

// unchanged makes the ledger refuse a change of a transaction whose row is not t any more. Otherwise a verdict about an
// earlier report would overwrite a report that came while the custodian was asked.
func unchanged(change *ledger.Transition, t Transaction) {
	change.Expect("block_number", t.Block).Expect("block_hash", t.blockHash).
		Expect("lost_at", clock.Micros(t.lostAt)).Expect("misses", t.misses)
}

// end changes a pending transaction to its final state and emits the event. The ledger refuses the change if t is not the
// present row.
func (s *Service) end(ctx context.Context, t Transaction, v verdict, at provider.Inclusion) error {
	before, changes := t, []string{"updated_at"}
	t.Status, t.UpdatedAt = Failed, s.Clock.Now()
	if v == done {
		t.Status, t.Block = Completed, at.Block
		if at.BlockHash != "" {
			t.blockHash = at.BlockHash
		}
		changes = append(changes, "block_number", "block_hash")
	}
	u := ledger.For(t.Company)
	unchanged(u.Transition(transactionTable.Record(t), string(Pending)).Only(changes...), before)
	event.Emit(&u, endings[t.Type][t.Status], t)
	return s.Book.Commit(ctx, u)
}

var endings = map[Type]map[Status]string{
	Deposit:    {Completed: event.CryptoDepositCompleted, Failed: event.CryptoDepositFailed},
	Withdrawal: {Completed: event.CryptoWithdrawalCompleted, Failed: event.CryptoWithdrawalFailed},
}

// miss counts that the custodian did not find the transaction. The first miss changes UpdatedAt,
// because missingFor is measured from the first miss.
func (s *Service) miss(ctx context.Context, t Transaction) error {
	if t.misses == 0 {
		t.UpdatedAt = s.Clock.Now()
	}
	return s.setMisses(ctx, t, t.misses+1)
}

// setMisses stores how often in a row the custodian did not find a pending transaction, unless the
// transaction has changed meanwhile.
func (s *Service) setMisses(ctx context.Context, t Transaction, misses int64) error {
	before := t
	t.misses = misses
	u := ledger.For(t.Company)
	unchanged(u.Transition(transactionTable.Record(t), string(Pending)).Only("misses", "updated_at"), before)
	err := s.Book.Commit(ctx, u)
	if ledger.Refused(err) != nil {
		return nil // the transaction is not pending any more, or it was reported again
	}
	return err
}

// recheck checks a completed transaction whose block was removed from the chain. It does not change
// the state, because the company may have acted on it. If the transaction stays missing after
// several checks, recheck opens a case. It waits while the node's last block is before the
// transaction's block.
func (s *Service) recheck(ctx context.Context, n chain.Network, t Transaction, at provider.Inclusion, asked int64) (next time.Time, err error) {
	switch {
	case at.Found && !at.Reverted:
		return time.Time{}, nil
	case at.Waiting || at.Head < t.Block || asked < missesNeeded:
		return s.Clock.Now().Add(missingFor / missesNeeded), nil
	}
	return time.Time{}, s.Operations.OpenCase(ctx, t.Company, "crypto transaction "+t.subject(), operation.Contradiction,
		fmt.Sprintf("completed in block %d of %s, which is gone: the transaction %s is not in the chain any more", t.Block, n.ID, t.Hash))
}
