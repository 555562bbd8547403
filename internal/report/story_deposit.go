package report

import (
	"context"
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"time"

	"github.com/kobo-waas/kobo/internal/chain"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
)

// depositShape matches the reference of a movement on a chain: its company, and its number there.
var depositShape = regexp.MustCompile(`^(c(?:[0-9a-z]{9}|[0-9a-z]{24}))-([0-9]{1,18})$`)

// depositPlaces finds a movement on a chain by its reference, or the first one of a transaction by its hash.
func depositPlaces(ctx context.Context, q db.Querier, reference string) ([]place, error) {
	if m := depositShape.FindStringSubmatch(reference); m != nil {
		number, err := strconv.ParseInt(m[2], 10, 64)
		if err != nil {
			return nil, err
		}
		return db.All(ctx, q, db.Fields[place], `SELECT 'deposit', company_id, CAST(id AS TEXT) FROM crypto_transaction WHERE company_id = $1 AND id = $2`, m[1], number)
	}
	if !hashShape.MatchString(reference) {
		return nil, nil
	}
	hits, err := byHash(ctx, q, reference)
	var out []place
	for _, h := range hits {
		out = append(out, place{"deposit", h.Company, h.ID})
	}
	return out, err
}

// depositStory returns the story of a movement on a chain. It moves no naira, so it has no amount: the
// counterparty says how much of which asset came from where.
func depositStory(ctx context.Context, q db.Querier, at place) (Story, error) {
	type movement struct {
		kind, state, network, asset, units, address, counter, hash string
		decimals, block                                            int64
		lost, created, updated                                     time.Time
	}
	number, err := strconv.ParseInt(at.id, 10, 64)
	if err != nil {
		return Story{}, err
	}
	m, err := db.One(ctx, q, db.Fields[movement], `SELECT kind, state, network_id, asset, units, address, counter, tx_hash, decimals, block_number, lost_at, created_at, updated_at
		FROM crypto_transaction WHERE company_id = $1 AND id = $2`, at.company, number)
	if err != nil {
		return Story{}, err
	}
	units, isNumber := new(big.Int).SetString(m.units, 10)
	if !isNumber {
		return Story{}, fault.Newf(fault.Internal, "the amount of %s-%s is no number", at.company, at.id)
	}
	amount := chain.FormatUnits(units, int(m.decimals)) + " " + m.asset
	out := Story{
		Kind: m.kind, Reference: at.company + "-" + at.id, Company: at.company, State: m.state, ProviderReference: m.hash,
		Provider: m.network, CreatedAt: m.created, Counterparty: amount,
	}
	says := fmt.Sprintf("%s of %s on %s at %s", m.kind, amount, m.network, m.address)
	if m.counter != "" {
		says += ", the other address is " + m.counter
	}
	own := []Step{{At: m.created, What: "intent", Text: says + ", transaction " + m.hash}}
	if !m.lost.IsZero() {
		own = append(own, Step{At: m.lost, What: "answer", Text: "chain: its block was removed"})
	}
	if m.state != "pending" {
		text := m.state
		if m.block != 0 {
			text += fmt.Sprintf(", in block %d", m.block)
		}
		own = append(own, Step{At: m.updated, What: "state", Text: text})
	}
	return out, out.gather(ctx, q, []string{m.hash}, out.Reference, own)
}
