package report

import (
	"context"
	"regexp"
	"strings"

	"github.com/kobo-waas/kobo/internal/db"
)

// People read out the beginning of an address or of a hash. Eight signs of it are in few addresses of all companies.
var (
	addressBegins = regexp.MustCompile(`^(0x[0-9a-fA-F]{6,39}|T[1-9A-HJ-NP-Za-km-z]{7,32}|(bc|tb|bcrt)1[02-9ac-hj-np-z]{5,86})$`)
	hashBegins    = regexp.MustCompile(`^(0x)?[0-9a-fA-F]{8,63}$`)
)

// onChain are the looks of a text that may be the beginning of an address or of a hash.
func onChain(text string) (looks []ownLook) {
	if addressBegins.MatchString(text) {
		looks = append(looks, ownByAddressOnChain)
	}
	if hashBegins.MatchString(text) {
		looks = append(looks, ownByHash)
	}
	return looks
}

// ownByAddressOnChain finds the company's deposit addresses that begin with a text, in the directory of all addresses. It looks at a
// bounded number of addresses. Those that begin with 0x are stored in lower case.
func ownByAddressOnChain(ctx context.Context, q db.Querier, company, text string) ([]Hit, error) {
	if strings.HasPrefix(text, "0x") {
		text = strings.ToLower(text)
	}
	return db.All(ctx, q, db.Fields[Hit], `SELECT 'deposit address', company_id, address, network_id, 0, 0
		FROM (SELECT company_id, address, network_id FROM crypto_directory WHERE address >= $2 AND address < $3 ORDER BY address LIMIT 1000) AS d
		WHERE company_id = $1 ORDER BY address, network_id LIMIT $4`, company, text, after(text), atMost+1)
}

// ownByHash finds the company's movements on a chain whose transaction has a hash that begins with a text. Chains write a hash with
// or without 0x.
func ownByHash(ctx context.Context, q db.Querier, company, text string) ([]Hit, error) {
	bare := strings.TrimPrefix(strings.ToLower(text), "0x")
	return db.All(ctx, q, db.Fields[Hit], `SELECT 'deposit', company_id, CAST(id AS TEXT), asset, 0, created_at FROM crypto_transaction
		WHERE company_id = $1 AND tx_hash >= $2 AND tx_hash < $3
		UNION ALL SELECT 'deposit', company_id, CAST(id AS TEXT), asset, 0, created_at FROM crypto_transaction
		WHERE company_id = $1 AND tx_hash >= $4 AND tx_hash < $5 LIMIT $6`, company, bare, after(bare), "0x"+bare, after("0x"+bare), atMost+1)
}
