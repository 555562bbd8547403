package crypto

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"time"

	"github.com/kobo-waas/kobo/internal/chain"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/operation"
)

// A check of balances asks for checkAddresses addresses in one call, and for at most checkCalls times
// as many each checkPace. So a million addresses take a node a few calls a second.
const (
	checkAddresses = 100
	checkCalls     = 10
	checkPace      = time.Minute
)

// round is how far the check of a network's balances has come. Day is the day of the last complete
// check. After is the last address that was checked since then.
type round struct {
	Day   string `json:"day"`
	After string `json:"after,omitempty"`
}

// checked is what an address held in a block, and how many transactions it had sent.
type checked struct {
	company string `db:"company_id"`
	network string `db:"network_id"`
	address string `db:"address"`
	block   int64  `db:"block_number"`
	units   string `db:"units"`
	sent    int64  `db:"sent"`
}

// seenMovement is a movement of the native asset that a custodian has reported.
type seenMovement struct {
	kind  Type   `db:"kind"`
	state Status `db:"state"`
	units string `db:"units"`
}

// CheckBalances compares what each address of a custodian's networks holds with the movements that
// the custodian has reported. It checks an address once a day, and some addresses in each call. A
// contract can send the native asset without a trace that the custodian reports. Such a difference
// becomes a case.
func (s *Service) CheckBalances(ctx context.Context, custody string) error {
	c := s.custodies[custody]
	var all []error
	for _, id := range c.Networks {
		all = append(all, s.checkNetwork(ctx, c, s.networks[id]))
	}
	return errors.Join(all...)
}

// checkNetwork checks some addresses of a network, unless a different program is doing so.
func (s *Service) checkNetwork(ctx context.Context, c Custody, n chain.Network) error {
	name := "balances:" + n.ID
	now := s.Clock.Now()
	today := now.UTC().Format(time.DateOnly)
	if text, err := s.readUntil(ctx, name); err != nil || roundOf(text).Day == today {
		return err
	}
	text, mine, err := s.takeCursor(ctx, name, now, now.Add(lease))
	if err != nil || !mine {
		return err
	}
	r := roundOf(text)
	for i := 0; err == nil && i < checkCalls && r.Day != today; i++ {
		err = s.checkPage(ctx, c, n, &r, today)
	}
	next, wrong := json.Marshal(r)
	return errors.Join(err, wrong, s.releaseCursor(ctx, name, string(next), err == nil))
}

// roundOf parses a stored round. A text that is not a round begins a new one.
func roundOf(text string) (r round) {
	if json.Unmarshal([]byte(text), &r) != nil {
		return round{}
	}
	return r
}

// checkPage checks the next addresses of a round. After the last address the round is complete.
func (s *Service) checkPage(ctx context.Context, c Custody, n chain.Network, r *round, today string) error {
	owners, err := s.directory(ctx, n.ID, r.After, checkAddresses)
	if err != nil {
		return err
	}
	if len(owners) == 0 {
		*r = round{Day: today}
		return nil
	}
	cursor, err := s.readUntil(ctx, c.Name)
	if err != nil {
		return err
	}
	addresses := make([]string, len(owners))
	for i, o := range owners {
		addresses[i], _ = n.Canonical(o.address)
	}
	block, held, err := c.Plug.Holdings(ctx, n, cursor, addresses)
	if err != nil {
		return err
	}
	if held == nil { // the custodian reports every movement, or has only begun to read
		*r = round{Day: today}
		return nil
	}
	var now []checked
	for i, o := range owners {
		c := checked{company: o.company, network: n.ID, address: addresses[i], block: block, units: held[i].Units.String(), sent: held[i].Sent}
		done, err := s.checkBalance(ctx, n, c)
		if err != nil {
			return err
		}
		if done {
			now = append(now, c)
		}
	}
	if err := s.setBalances(ctx, now); err != nil {
		return err
	}
	r.After = owners[len(owners)-1].address
	return nil
}

// checkBalance compares the balance of an address with its balance at the last check and the movements
// since then. The result done is false if the address has to be checked again. The fees of its own
// transactions are not recorded, so an address that has sent transactions may hold less. A difference
// opens one case, because the next check begins at this balance.
func (s *Service) checkBalance(ctx context.Context, n chain.Network, now checked) (done bool, err error) {
	last, err := s.lastBalance(ctx, now.company, n.ID, now.address)
	if errors.Is(err, db.ErrNone) {
		last, err = checked{units: "0"}, nil
	}
	if err != nil || last.block >= now.block {
		return false, err
	}
	movements, err := s.nativeMovements(ctx, now, last.block)
	if err != nil {
		return false, err
	}
	more, ok := new(big.Int).SetString(now.units, 10)
	for _, m := range append(movements, seenMovement{kind: Deposit, units: last.units}) {
		units, isNumber := new(big.Int).SetString(m.units, 10)
		switch ok = ok && isNumber; {
		case !ok:
			return false, errors.New("crypto: units that are no number")
		case m.state == Pending:
			return false, nil // the transaction may still fail, so the address is checked the next day
		case m.kind == Withdrawal:
			units.Neg(units)
		}
		more.Sub(more, units)
	}
	if more.Sign() > 0 || more.Sign() < 0 && now.sent == last.sent {
		err = s.reportDifference(ctx, n, now, last.block, more)
	}
	return err == nil, err
}

// reportDifference opens the case of a difference. Until the new balance is stored, the case keeps its
// subject, so a check that is repeated opens no second case.
func (s *Service) reportDifference(ctx context.Context, n chain.Network, now checked, after int64, more *big.Int) error {
	what := "more than Kobo has seen: a contract may have sent it, and no deposit was recorded"
	if more.Sign() < 0 {
		what = "less than Kobo has seen, although the address has sent no transaction"
	}
	detail := fmt.Sprintf("in block %d of %s the address %s holds %s %s %s (movements after block %d)",
		now.block, n.ID, now.address, chain.FormatUnits(new(big.Int).Abs(more), n.Decimals), n.NativeAsset, what, after)
	return s.Operations.OpenCase(ctx, now.company, fmt.Sprintf("crypto balance of %s on %s after block %d", now.address, n.ID, after),
		operation.Contradiction, detail)
}
