package crypto

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/kobo-waas/kobo/internal/chain"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/provider"
)

// Receive takes what a custodian sent of its own accord. It returns when that is
// in the books: an error means that the custodian should send it again.
func (s *Service) Receive(ctx context.Context, custody string, header http.Header, body []byte) error {
	c, known := s.custodies[custody]
	if !known {
		return provider.ErrForged
	}
	movements, err := c.Plug.ParseNotification(header, body)
	if err != nil {
		return err
	}
	for _, m := range movements {
		if err := s.take(ctx, custody, m); err != nil {
			return err
		}
	}
	return nil
}

// seen is the same for the same movement, whoever tells it and in whichever
// block it is.
func seen(n chain.Network, m provider.Movement) string {
	way := "in"
	if m.Out {
		way = "out"
	}
	return strings.Join([]string{
		n.ID, m.Hash, n.Fold(m.Address), way, n.Fold(m.Contract), m.Units.String(), fmt.Sprint(m.Ordinal),
	}, " ")
}

// races is how often a movement is looked at anew because somebody else was
// writing the same, or took the number.
const races = 100

// take writes one movement down, once. What is not ours, or in an asset that we
// do not take, is left.
func (s *Service) take(ctx context.Context, custody string, m provider.Movement) error {
	n, known := s.networks[m.NetworkID]
	asset, taken := n.Asset(m.Contract)
	if !known || !taken || m.Units.Sign() <= 0 {
		return nil
	}
	if !json.Valid(m.Raw) {
		m.Raw = json.RawMessage("{}") // what a company is shown is one JSON object
	}
	company, err := s.owner(ctx, n.ID, n.Fold(m.Address))
	if errors.Is(err, db.ErrNone) {
		return nil
	}
	for range races {
		if err != nil {
			return err
		}
		var earlier Transaction
		earlier, err = s.findSeen(ctx, company, seen(n, m))
		switch {
		case errors.Is(err, db.ErrNone):
			err = s.first(ctx, company, custody, n, asset, m, 1)
		case err != nil:
			return err
		case earlier.Status == Pending:
			err = s.again(ctx, earlier, m)
		case earlier.Status == Failed && m.Block > 0 && (m.Block != earlier.Block || m.BlockHash != earlier.blockHash) && !m.Reverted:
			// It was given up, and happened after all.
			err = s.first(ctx, company, custody, n, asset, m, earlier.attempt+1)
		case earlier.Status == Completed && m.Moved:
			err = s.Book.Commit(ctx, ledger.Unit{Company: company, Notes: []db.Record{earlier.confirmJob(s.Clock.Now())}})
		}
		if ledger.Refused(err) == nil {
			return err
		}
		err = nil // somebody else was faster: look again
	}
	return errors.New("crypto: a movement is being written by too many")
}

// numbered is the limit counter of the transactions that were numbered so.
const numbered = "crypto/transaction"

// first writes a movement that was not seen before, under the number above the
// company's highest.
func (s *Service) first(ctx context.Context, company, custody string, n chain.Network, asset chain.Asset, m provider.Movement, attempt int64) error {
	// The count first: a number that is taken after it was read raises it, and then
	// the unit is refused.
	taken, err := s.Book.Last(ctx, company, numbered)
	if err != nil {
		return err
	}
	highest, err := s.highest(ctx, company)
	if err != nil {
		return err
	}
	now := s.Clock.Now()
	t := Transaction{
		Company: company, ID: highest + 1, Type: Deposit, Status: Pending, NetworkID: n.ID,
		Asset: asset.Symbol, Contract: asset.Contract, Decimals: asset.Decimals, Units: m.Units,
		Address: m.Address, Counter: m.Counter, Hash: m.Hash, Block: m.Block, Raw: m.Raw, CreatedAt: now, UpdatedAt: now,
		seen: seen(n, m), attempt: attempt, blockHash: m.BlockHash, custody: custody,
	}
	u := ledger.For(company)
	u.Count(numbered, 1, taken+1)
	if m.Out {
		t.Type = Withdrawal // its events are those of its end
	} else {
		event.Emit(&u, event.CryptoDepositPending, t)
	}
	u.Insert(t.record())
	u.Append(t.confirmJob(now))
	return s.Book.Commit(ctx, u)
}

// again is a pending transaction told once more: perhaps it is in a block now, or
// in another one.
func (s *Service) again(ctx context.Context, t Transaction, m provider.Movement) error {
	told := m.Block == 0 || m.Block == t.Block && m.BlockHash == t.blockHash && t.lostAt.IsZero()
	if told && !m.Moved {
		return nil
	}
	now := s.Clock.Now()
	u := ledger.Unit{Company: t.Company, Notes: []db.Record{t.confirmJob(now)}}
	if !told {
		t.Block, t.blockHash, t.Raw = m.Block, m.BlockHash, m.Raw
		u.Moves = []ledger.Move{t.move(Pending, now,
			ledger.Change{Column: "block_number", Value: m.Block}, ledger.Change{Column: "block_hash", Value: m.BlockHash},
			ledger.Change{Column: "raw", Value: string(m.Raw)}, ledger.Change{Column: "misses", Value: int64(0)},
			ledger.Change{Column: "lost_at", Value: int64(0)})}
	}
	if err := s.Book.Commit(ctx, u); err != nil {
		return err
	}
	return job.Reschedule(ctx, s.DB, t.Company, ConfirmJob, t.subject(), now)
}

// roll takes back what was in blocks that are gone. A pending transaction waits
// to be told again; one that is completed should have been safe, and a human is
// asked.
func (s *Service) roll(ctx context.Context, networks, gone []string) error {
	if len(gone) == 0 {
		return nil
	}
	for _, network := range networks {
		lost, err := s.inBlocks(ctx, network, gone)
		if err != nil {
			return err
		}
		for _, t := range lost {
			if err := s.lose(ctx, t); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Service) lose(ctx context.Context, t Transaction) error {
	now := s.Clock.Now()
	switch t.Status {
	case Pending:
		err := s.Book.Commit(ctx, ledger.Unit{
			Company: t.Company,
			// Nothing that a company sees has changed.
			Moves: []ledger.Move{t.move(Pending, t.UpdatedAt,
				ledger.Change{Column: "block_hash", Value: ""}, ledger.Change{Column: "lost_at", Value: clock.Micros(now)})},
			Notes: []db.Record{t.confirmJob(now)},
		})
		if ledger.Refused(err) != nil {
			return nil // it is not pending any more: the next reading says more
		}
		return err
	case Completed:
		return s.Book.Commit(ctx, ledger.Unit{Company: t.Company, Notes: []db.Record{t.confirmJob(now)}})
	}
	return nil
}
