package report

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/chain"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/event"
)

// The kinds of arrivals in the counts: money that came in, and what arrived on a chain.
const (
	creditKind  = "credit"
	depositKind = "deposit"
)

// arrived maps the kind of each event about an arrival to the outcome that it tells of. A credit is booked when its
// event is written. Money whose owner is unknown has no event.
var arrived = map[string]string{
	event.SettlementCredit: Paid, event.TransactionCredit: Paid, event.VirtualAccountSuccess: Paid, event.VirtualAccountLatePayment: Paid,
	event.CryptoDepositPending: Unsettled, event.CryptoDepositCompleted: Paid, event.CryptoDepositFailed: Refunded,
}

// counted are the outcomes of operations and arrivals together.
var counted = func() map[string]string {
	all := maps.Clone(outcomes)
	maps.Copy(all, arrived)
	return all
}()

// arrivalOf returns the subject of an event about an arrival: a credit or a deposit by its id, and the payment of a
// virtual account by the account's id and the session.
func arrivalOf(kind, id, session string) string {
	switch kind {
	case event.SettlementCredit, event.TransactionCredit:
		return creditKind + "/" + id
	case event.VirtualAccountSuccess, event.VirtualAccountLatePayment:
		return "collection/" + id + "/" + session
	}
	return depositKind + "/" + id
}

// coin is what one deposit brings: so many of an asset's smallest units.
type coin struct {
	asset    string
	decimals int64
	units    *big.Int
}

// coinCell names the deposits of one asset in a cell.
type coinCell struct {
	Cell
	asset    string
	decimals int64
}

// Deposits is the number of the deposits of one asset in a cell, and their sum. The provider of the cell is the network.
type Deposits struct {
	Cell
	Asset    string
	Decimals int64
	Count    int64
	Units    *big.Int // the sum in the asset's smallest units
}

// Text returns the sum in whole units of the asset, such as 0.25.
func (d Deposits) Text() string { return chain.FormatUnits(d.Units, int(d.Decimals)) }

// coinSums adds up deposits by their cells.
type coinSums map[coinCell]Deposits

// add adds some deposits of an asset with their sum in units.
func (c coinSums) add(at Cell, asset string, decimals, count int64, units *big.Int) {
	cell := coinCell{at, asset, decimals}
	d, there := c[cell]
	if !there {
		d = Deposits{at, asset, decimals, 0, new(big.Int)}
	}
	d.Count += count
	d.Units.Add(d.Units, units)
	c[cell] = d
}

// sorted returns the sums in the order of the primary key.
func (c coinSums) sorted() []Deposits {
	return slices.SortedFunc(maps.Values(c), func(a, b Deposits) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.Asset, b.Asset), cmp.Compare(a.Decimals, b.Decimals), cmp.Compare(a.Outcome, b.Outcome))
	})
}

// writeDeposits adds to the counts of deposits. Two programs that count different companies change the cells in the
// same order.
func (c *change) writeDeposits(ctx context.Context, q db.Querier) error {
	for _, d := range c.deposits.sorted() {
		if d.Count == 0 && d.Units.Sign() == 0 {
			continue
		}
		if err := addDeposits(ctx, q, d); err != nil {
			return err
		}
	}
	return nil
}

// readArrivals adds the arrivals with these subjects to what began. It returns what each deposit brings.
func readArrivals(ctx context.Context, q db.Querier, company string, subjects []string, to map[string]begun) (map[string]coin, error) {
	var credits, numbers []string
	paid := map[string][]string{} // the sessions by collection
	for _, s := range subjects {
		switch kind, id, _ := strings.Cut(s, "/"); kind {
		case creditKind:
			credits = append(credits, id)
		case depositKind:
			numbers = append(numbers, id)
		case "collection":
			collection, session, _ := strings.Cut(id, "/")
			paid[collection] = append(paid[collection], session)
		}
	}
	if len(credits) > 0 {
		found, err := creditsByID(ctx, q, company, credits)
		if err != nil {
			return nil, err
		}
		for _, b := range found {
			b.id = creditKind + "/" + b.id
			to[b.id] = b
		}
	}
	if err := readPaid(ctx, q, company, paid, to); err != nil {
		return nil, err
	}
	if len(numbers) == 0 {
		return nil, nil
	}
	return readDeposits(ctx, q, company, numbers, to)
}

// readPaid adds the credits of virtual accounts. The map paid has the sessions by collection.
func readPaid(ctx context.Context, q db.Querier, company string, paid map[string][]string, to map[string]begun) error {
	if len(paid) == 0 {
		return nil
	}
	banks, err := banksOf(ctx, q, company, slices.Sorted(maps.Keys(paid)))
	if err != nil {
		return err
	}
	sessions, subjects := map[string][]string{}, map[string]string{} // by bank; by bank and session
	for collection, list := range paid {
		bank := banks[collection]
		for _, session := range list {
			sessions[bank] = append(sessions[bank], session)
			subjects[bank+"/"+session] = "collection/" + collection + "/" + session
		}
	}
	for bank, list := range sessions {
		found, err := creditsBySession(ctx, q, company, bank, list)
		if err != nil {
			return err
		}
		for _, b := range found { // the id is the session
			b.id = subjects[bank+"/"+b.id]
			to[b.id] = b
		}
	}
	return nil
}

// readDeposits adds the deposits with these numbers, and returns what each of them brings.
func readDeposits(ctx context.Context, q db.Querier, company string, numbers []string, to map[string]begun) (map[string]coin, error) {
	list, err := depositsByNumber(ctx, q, company, numbers)
	out := map[string]coin{}
	for _, d := range list {
		units, isNumber := new(big.Int).SetString(d.units, 10)
		if !isNumber {
			return nil, fmt.Errorf("report: the amount of %s-%s is no number", company, d.id)
		}
		b := begun{id: depositKind + "/" + d.id, kind: depositKind, provider: d.network, createdAt: d.createdAt}
		to[b.id], out[b.id] = b, coin{d.asset, d.decimals, units}
	}
	return out, err
}

// withoutHours adds up the deposits of all hours. If an asset has had several numbers of decimals, the sum has the largest.
func withoutHours(hours []Deposits) []Deposits {
	most := map[string]int64{}
	for _, d := range hours {
		most[d.Provider+"/"+d.Asset] = max(most[d.Provider+"/"+d.Asset], d.Decimals)
	}
	sum := coinSums{}
	for _, d := range hours {
		at, decimals := d.Cell, most[d.Provider+"/"+d.Asset]
		at.At = time.Time{}
		scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(decimals-d.Decimals), nil)
		sum.add(at, d.Asset, decimals, d.Count, scale.Mul(scale, d.Units))
	}
	return sum.sorted()
}

// addOwnerless adds the credits of unknown accounts to hours, as unknown. The list is the one that the filter for such
// credits shows, so a credit leaves it when operators have assigned it to a company, which has a credit of its own then.
func addOwnerless(hours []Hour, found []begun) []Hour {
	at := map[Cell]Hour{}
	for _, b := range found {
		cell := b.cell(Unsettled)
		h := at[cell]
		at[cell] = Hour{cell, h.Count + 1, h.Amount + b.amount}
	}
	return append(hours, sorted(at)...)
}
