package crypto

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/chain"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/provider"
)

// Receive records the movements of a custodian's notification. A genuine notification of unknown
// meaning is stored, and an operator gets a case. If Receive returns an error, the
// custodian should send the notification again.
func (s *Service) Receive(ctx context.Context, custody string, header http.Header, body []byte) error {
	c, known := s.custodies[custody]
	if !known {
		return provider.ErrForged
	}
	movements, err := c.Plug.ParseNotification(header, body)
	if errors.Is(err, provider.ErrUnread) {
		return s.keep(ctx, custody, body)
	}
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

// seen returns a text that identifies a movement. The text does not depend on the custodian or the
// block, so all reports of a movement have the same text.
func seen(n chain.Network, m provider.Movement, hash string) string {
	way := "in"
	if m.Out {
		way = "out"
	}
	return strings.Join([]string{
		n.ID, hash, n.Fold(m.Address), way, n.Fold(m.Contract), m.Units.String(), fmt.Sprint(m.Ordinal),
	}, " ")
}

// everSeen returns the texts that may identify a movement in the database. A row has the hash as the custodian of that
// time spelled it.
func everSeen(n chain.Network, m provider.Movement) (all []string) {
	for _, hash := range chain.Hashes(m.Hash) {
		all = append(all, seen(n, m, hash))
	}
	return all
}

// races is how often take tries to record a movement before it gives up. A try fails if a
// concurrent request records the same movement or takes the same transaction number.
const races = 100

// take records a movement, unless it is already recorded. It ignores addresses that belong to no
// company and assets that are not listed. If a different custodian watches the network now, take
// ignores what that one lists itself, and leaves the rest to it: it is asked for the outcome.
func (s *Service) take(ctx context.Context, custody string, m provider.Movement) error {
	n, known := s.networks[m.NetworkID]
	asset, taken := n.Asset(m.Contract)
	if !known || !taken || m.Units.Sign() <= 0 {
		return nil
	}
	if !json.Valid(m.Raw) {
		m.Raw = json.RawMessage("{}") // the API must show a JSON object
	}
	if watcher := s.custodyOf[n.ID]; watcher != custody && watcher != "" {
		listed, err := s.lists(ctx, watcher, m.Block)
		if err != nil || listed {
			return err
		}
		custody = watcher
	}
	company, err := s.owner(ctx, n.ID, n.Fold(m.Address))
	if errors.Is(err, db.ErrNone) {
		return nil
	}
	t := Transaction{
		Company: company, Type: Deposit, NetworkID: n.ID, Asset: asset.Symbol, Contract: asset.Contract, Decimals: asset.Decimals,
		Units: m.Units, units: m.Units.String(), Address: m.Address, Counter: m.Counter, Hash: n.FoldHash(m.Hash), Block: m.Block,
		blockHash: m.BlockHash, Raw: m.Raw, seen: seen(n, m, n.FoldHash(m.Hash)), attempt: 1, custody: custody,
	}
	if m.Out {
		t.Type = Withdrawal
	}
	for range races {
		if err != nil {
			return err
		}
		var earlier Transaction
		if earlier, err = s.findSeen(ctx, company, everSeen(n, m)...); err == nil {
			t.seen = earlier.seen
		}
		switch {
		case errors.Is(err, db.ErrNone):
			err = s.first(ctx, t)
		case err != nil:
			return err
		case earlier.Status == Pending:
			err = s.again(ctx, earlier, m)
		case earlier.Status == Failed:
			err = s.late(ctx, t, earlier, m)
		case earlier.Status == Completed && m.Moved:
			err = s.confirmNow(ctx, earlier)
		}
		if ledger.Refused(err) == nil {
			return err
		}
		err = nil // a concurrent request has changed the same rows, so try again
	}
	return errors.New("crypto: a movement is being recorded by too many")
}

// lists reports whether a custodian lists the movements of a block itself. A node begins shortly before the end of its chain, so it
// does not list movements of the time before. A movement without a block is listed once it has one.
func (s *Service) lists(ctx context.Context, custody string, block int64) (bool, error) {
	cursor, err := s.readUntil(ctx, custody)
	begin := s.custodies[custody].Plug.Begin(cursor)
	return block == 0 || begin > 0 && block >= begin, err
}

// confirmNow enqueues the ConfirmJob of a transaction.
func (s *Service) confirmNow(ctx context.Context, t Transaction) error {
	u := ledger.For(t.Company)
	u.Append(t.confirmJob(s.Clock.Now()))
	return s.Book.Commit(ctx, u)
}

// numbered is the limit counter of the transaction numbers that a company has used.
const numbered = "crypto/transaction"

// first records a movement as a new pending transaction. The transaction gets the number after the
// company's highest number.
func (s *Service) first(ctx context.Context, t Transaction) error {
	// The counter is read before the highest number. If a concurrent request takes a number after
	// this read, the counter rises, and the ledger refuses the unit below.
	taken, err := s.Book.Last(ctx, t.Company, numbered)
	if err != nil {
		return err
	}
	highest, err := s.highest(ctx, t.Company)
	if err != nil {
		return err
	}
	now := s.Clock.Now()
	t.ID, t.Status, t.misses, t.lostAt, t.CreatedAt, t.UpdatedAt = highest+1, Pending, 0, time.Time{}, now, now
	u := ledger.For(t.Company)
	u.Count(numbered, 1, taken+1)
	if t.Type == Deposit { // a pending withdrawal has no event
		event.Emit(&u, event.CryptoDepositPending, t)
	}
	u.Insert(transactionTable.Record(t))
	u.Append(t.confirmJob(now))
	return s.Book.Commit(ctx, u)
}

// isTold reports whether a report names the transaction's block. A vendor does not name the hash of the block, so its report does not
// contradict a node's.
func (t Transaction) isTold(m provider.Movement) bool {
	return m.Block == t.Block && (m.BlockHash == "" || m.BlockHash == t.blockHash)
}

// isNewerThan reports whether the transaction has changed since the custodian sent a report that it lists again. The list may name
// blocks that are not in the chain any more, and may name them for a week.
func (t Transaction) isNewerThan(m provider.Movement) bool {
	return !m.ListedAt.IsZero() && !m.ListedAt.After(t.UpdatedAt)
}

// again records a repeated report of a pending transaction, which may now be in a different block.
// An old report changes nothing, unless no block is known yet.
func (s *Service) again(ctx context.Context, t Transaction, m provider.Movement) error {
	if t.Block > 0 && t.isNewerThan(m) {
		return nil
	}
	told := m.Block == 0 || t.isTold(m) && t.lostAt.IsZero()
	if told && !m.Moved {
		return nil
	}
	now := s.Clock.Now()
	u := ledger.For(t.Company)
	u.Append(t.confirmJob(now))
	if !told {
		t.Block, t.blockHash, t.Raw, t.misses, t.lostAt, t.UpdatedAt = m.Block, m.BlockHash, m.Raw, 0, time.Time{}, now
		u.Transition(transactionTable.Record(t), string(Pending))
	}
	if err := s.Book.Commit(ctx, u); err != nil {
		return err
	}
	return job.Reschedule(ctx, s.DB, t.Company, ConfirmJob, t.subject(), now)
}

// roll handles the transactions of blocks that were removed from the chain. A pending transaction
// can complete only after the custodian has reported it again. A completed transaction is checked
// again. After a deep reorganisation, roll does so for all transactions that may have been removed.
func (s *Service) roll(ctx context.Context, networks []string, b provider.Batch) error {
	if len(b.Gone) == 0 && b.GoneFrom == 0 {
		return nil
	}
	for _, network := range networks {
		lost, err := s.inBlocks(ctx, network, b.Gone)
		if err == nil && b.GoneFrom > 0 {
			lost, err = s.fromBlock(ctx, network, b.GoneFrom)
		}
		if err != nil {
			return err
		}
		for _, t := range lost {
			if err := s.lose(ctx, t, b); err != nil {
				return err
			}
		}
	}
	return nil
}

// isGone reports whether a batch removes the block of a transaction.
func (t Transaction) isGone(b provider.Batch) bool {
	return t.blockHash != "" && (slices.Contains(b.Gone, t.blockHash) || b.GoneFrom > 0 && t.Block >= b.GoneFrom)
}

// lose handles a transaction whose block the batch removes. If a report has changed the row since t was read, lose reads the
// row again, because the new report may name a block that is in the chain.
func (s *Service) lose(ctx context.Context, t Transaction, b provider.Batch) error {
	for range races {
		switch {
		case t.Status == Completed:
			return s.confirmNow(ctx, t)
		case t.Status != Pending || !t.isGone(b):
			return nil
		}
		lost, now := t, s.Clock.Now()
		lost.blockHash, lost.lostAt = "", now
		u := ledger.For(t.Company)
		// UpdatedAt does not change, because the company does not see this change.
		unchanged(u.Transition(transactionTable.Record(lost), string(Pending)).Only("block_hash", "lost_at", "updated_at"), t)
		u.Append(t.confirmJob(now))
		err := s.Book.Commit(ctx, u)
		if ledger.Refused(err) == nil {
			return err
		}
		if t, err = s.findTransaction(ctx, t.Company, t.ID); err != nil {
			return err
		}
	}
	return errors.New("crypto: a removed transaction is being changed by too many")
}
