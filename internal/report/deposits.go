package report

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"time"

	"github.com/kobo-waas/kobo/internal/chain"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
)

// DepositLine is a row of the operators' list of what arrived on chains.
type DepositLine struct {
	Reference            string // as its timeline has it
	Company, CompanyName string
	State                string // pending, completed or failed
	Network, Asset       string
	Amount               string // in whole units of the asset, such as 0.25
	Address, Hash        string
	CreatedAt            time.Time
}

// DepositFilter selects deposits. A zero field selects all.
type DepositFilter struct {
	Company, State, Network, Asset string
	From, To                       time.Time // a deposit is not before From and is before To
	After                          string    // the cursor of the page before
}

// DepositPage is a page of deposits, newest first. Next and SearchedTo are as in a PaymentPage.
type DepositPage struct {
	Deposits   []DepositLine
	Next       string
	SearchedTo time.Time
}

// DepositStates are the states of a deposit that the list can be asked for. Unconfirmed are those that are not completed.
var DepositStates = []string{"pending", "completed", "failed", "unconfirmed"}

// depositLine is a deposit as the list reads it.
type depositLine struct {
	company, id, state, network, asset string
	decimals                           int64
	units, address, hash               string
	created                            int64
}

// position returns the place of a deposit in the list.
func (d depositLine) position() position { return position{d.created, d.company + "-" + d.id} }

// ListDeposits returns a page of the deposits of all companies, or of one. It looks at a bounded number of rows. A wrong
// cursor is a fault of the kind Invalid.
func (s *Service) ListDeposits(ctx context.Context, f DepositFilter) (out DepositPage, err error) {
	at, err := positionOf(f.After, f.To)
	if err != nil {
		return out, err
	}
	err = s.db.Snapshot(ctx, func(q db.Querier) error {
		rows, end, err := depositsNewest(ctx, q, f, at, s.depth)
		if err != nil {
			return err
		}
		out, err = depositPage(ctx, q, rows, end)
		return err
	})
	return out, err
}

// depositPage returns the first rows as a page. The position end is the last row that was looked at, if there may be more.
func depositPage(ctx context.Context, q db.Querier, rows []depositLine, end position) (out DepositPage, err error) {
	if len(rows) > paymentRows {
		rows = rows[:paymentRows]
		end = rows[paymentRows-1].position()
	}
	if end != (position{}) {
		out.Next, out.SearchedTo = end.text(), clock.Time(end.at)
	}
	var companies []string
	for _, r := range rows {
		companies = append(companies, r.company)
	}
	slices.Sort(companies)
	names, err := companyNames(ctx, q, slices.Compact(companies))
	if err != nil {
		return out, err
	}
	for _, r := range rows {
		units, isNumber := new(big.Int).SetString(r.units, 10)
		if !isNumber {
			return out, fmt.Errorf("report: the amount of %s-%s is no number", r.company, r.id)
		}
		out.Deposits = append(out.Deposits, DepositLine{
			Reference: r.company + "-" + r.id, Company: r.company, CompanyName: names[r.company], State: r.state, Network: r.network, Asset: r.asset,
			Amount: chain.FormatUnits(units, int(r.decimals)), Address: r.address, Hash: r.hash, CreatedAt: clock.Time(r.created),
		})
	}
	return out, nil
}

// place returns the company and the number of a cursor. A cursor without them is before all deposits of its instant.
func (p position) place() (company string, number int64, err error) {
	if p.id == "" {
		return "", 0, nil
	}
	m := depositShape.FindStringSubmatch(p.id)
	if m == nil {
		return "", 0, db.ErrCursor
	}
	number, err = strconv.ParseInt(m[2], 10, 64)
	return m[1], number, err
}
