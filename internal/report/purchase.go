package report

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/settlement"
	"github.com/kobo-waas/kobo/internal/vtu"
)

// PurchaseFilter narrows a list of purchases. A field that is zero does not filter.
type PurchaseFilter struct {
	Type         string
	Status       string
	SettlementID int64
	From, To     time.Time // created at From or later, and before To
}

// purchaseFilter selects from the alias p the purchases that match a filter, apart from their state.
// One index has all its columns. A row from before schema 46 has no settlement account, so its
// operation is read. The CASE keeps PostgreSQL from reading all operations for that.
const purchaseFilter = ` p.company_id = $1 AND p.created_at >= $2 AND p.created_at < $3 AND (p.kind = $4 OR $4 = '')
	AND ($5 = CAST(0 AS BIGINT) OR CASE WHEN p.settlement_id <> 0 THEN p.settlement_id
		ELSE (SELECT o.settlement_id FROM operation AS o WHERE o.company_id = p.company_id AND o.id = p.id) END = $5) `

// openPurchases selects from the alias u the IDs of the company's open purchases. It reads each
// operation by its key.
const openPurchases = ` FROM (` + undecided + `) AS u
	WHERE (SELECT o.kind FROM operation AS o WHERE o.company_id = $1 AND o.id = u.subject AND o.state = 'PENDING') = 'vtu' `

// ofState selects the purchases in the state $6, which is PENDING, FAILED or REVERSED. For SUCCESS it
// selects the purchases in all other states. Each FAILED purchase has a refund in the ledger, of the same
// commit. So ofState reads open operations and refunds, and no successful purchase.
const ofState = ` FROM (
		SELECT u.subject AS id` + openPurchases + `AND $6 IN ('PENDING', 'SUCCESS')
		UNION ALL SELECT e.reference FROM ledger_entry AS e
		WHERE e.company_id = $1 AND e.amount_kobo > 0 AND substr(e.account_id, 1, 11) = 'settlement/'
			AND (e.step = 'refund' AND $6 IN ('FAILED', 'SUCCESS') OR e.step = 'reverse' AND $6 IN ('REVERSED', 'SUCCESS'))
	) AS x JOIN vtu_purchase AS p ON p.id = x.id WHERE` + purchaseFilter

// These SQL statements count the purchases that match a filter. Each has the parameters $1 to $6.
const (
	purchaseCount  = `SELECT count(*) FROM vtu_purchase AS p WHERE ($6 = '') AND` + purchaseFilter
	ofStateCount   = `SELECT count(*)` + ofState
	succeededCount = `SELECT (SELECT count(*) FROM vtu_purchase AS p WHERE` + purchaseFilter + `) - (` + ofStateCount + `)`
)

// These parts make the SQL statements that read a page. The inner one selects the keys of the page, so
// that the rows before the page are skipped in an index.
const (
	pageBegin = `SELECT ` + operation.Columns + `, ` + operation.LabelColumns + `, ` + vtu.PurchaseColumns + ` FROM (SELECT p.id `
	pageEnd   = ` ORDER BY p.created_at DESC, p.id DESC LIMIT $7 OFFSET $8` + pageRest
	pageRest  = `) AS k
		JOIN vtu_purchase AS p ON p.company_id = $1 AND p.id = k.id
		JOIN operation ON operation.company_id = p.company_id AND operation.id = p.id` + operation.LabelJoin + `
		ORDER BY p.created_at DESC, p.id DESC`

	pageAfter = ` AND (p.created_at, p.id) < ($7, $8) ORDER BY p.created_at DESC, p.id DESC LIMIT $9` + pageRest

	purchasePage  = pageBegin + `FROM vtu_purchase AS p WHERE ($6 = '') AND` + purchaseFilter + pageEnd
	ofStatePage   = pageBegin + ofState + pageEnd
	succeededPage = pageBegin + `FROM vtu_purchase AS p WHERE` + purchaseFilter + ` AND (SELECT o.state FROM operation AS o
		WHERE o.company_id = p.company_id AND o.id = p.id) = $6` + pageEnd

	purchasesAfter = pageBegin + `FROM vtu_purchase AS p WHERE ($6 = '') AND` + purchaseFilter + pageAfter
	ofStateAfter   = pageBegin + ofState + pageAfter
	succeededAfter = pageBegin + `FROM vtu_purchase AS p WHERE` + purchaseFilter + ` AND (SELECT o.state FROM operation AS o
		WHERE o.company_id = p.company_id AND o.id = p.id) = $6` + pageAfter
)

// boughtCount counts all purchases of a company without reading them. Each purchase has one entry in
// the clearing account, and a second one after its outcome. The entries have dense numbers.
const boughtCount = `SELECT (coalesce((SELECT a.entry_sequence FROM ledger_account AS a WHERE a.company_id = $1 AND a.id = $2), 0)
		+ (SELECT count(*)` + openPurchases + `)) / 2`

// deep is the offset from which a page of an unfiltered list counts as a heavy read.
const deep = 10_000

func scanPurchase(sc db.Scanner) (vtu.Transaction, error) {
	var o operation.Operation
	var p vtu.Purchase
	err := sc.Scan(slices.Concat(o.Targets(), o.Labels.Targets(), p.Targets())...)
	return vtu.Of(o, p), err
}

// selectPurchase selects purchases with their operations and labels.
const selectPurchase = `SELECT ` + operation.Columns + `, ` + operation.LabelColumns + `, ` + vtu.PurchaseColumns + ` FROM operation JOIN vtu_purchase AS p
	ON p.company_id = operation.company_id AND p.id = operation.id` + operation.LabelJoin

// onePurchase is SQL that selects at most two purchases: one by its ID, and one by its
// idempotencyKey.
const onePurchase = selectPurchase + `WHERE operation.company_id = $1 AND operation.id = $2
	UNION ALL ` + selectPurchase + `WHERE operation.company_id = $1 AND operation.kind = 'vtu' AND operation.idempotency_key = $2 AND operation.idempotency_key <> ''`

// Purchase returns a VTU transaction of the company by its ID or, if no transaction has this ID, by
// its idempotencyKey.
func (s *Service) Purchase(ctx context.Context, company, idOrKey string) (vtu.Transaction, error) {
	found, err := db.All(ctx, s.db, scanPurchase, onePurchase, company, idOrKey)
	if err != nil {
		return vtu.Transaction{}, err
	}
	if len(found) == 0 {
		return vtu.Transaction{}, fault.New(fault.Missing, "Transaction not found")
	}
	byID := slices.IndexFunc(found, func(t vtu.Transaction) bool { return t.ID == idOrKey })
	return found[max(byID, 0)], nil
}

// Purchases returns a page of the company's VTU transactions, newest first, and the total count.
func (s *Service) Purchases(ctx context.Context, company string, f PurchaseFilter, offset, limit int) ([]vtu.Transaction, int, error) {
	to := int64(math.MaxInt64)
	if !f.To.IsZero() {
		to = clock.Micros(f.To)
	}
	args := []any{company, clock.Micros(f.From), to, f.Type, f.SettlementID, f.Status}
	count, rows := purchaseCount, purchasePage
	switch f.Status {
	case "":
	case string(vtu.Success):
		count, rows = succeededCount, succeededPage
	default:
		count, rows = ofStateCount, ofStatePage
	}
	if f == (PurchaseFilter{}) {
		total, err := db.One(ctx, s.db, db.Value[int64], boughtCount, company, settlement.ClearingAccount(vtu.Kind))
		if err != nil || int64(offset) >= total {
			return nil, int(total), err
		}
		var list []vtu.Transaction
		if offset < deep {
			list, err = db.All(ctx, s.db, scanPurchase, rows, append(args, limit, offset)...)
		} else {
			err = s.db.Heavy(ctx, company, func(q db.Querier) error {
				list, err = s.deepPurchases(ctx, q, company, total, offset, limit)
				return err
			})
		}
		return list, int(total), err
	}
	list, total, err := db.Page(ctx, s.db, company, scanPurchase, count, rows, limit, offset, args...)
	return list, int(total), err
}

// PurchasesAfter returns at most limit VTU transactions of the company that match a filter, the newest first. They follow the
// transaction with the cursor after, which is "" for the newest ones. A wrong cursor is a fault of the kind Invalid.
func (s *Service) PurchasesAfter(ctx context.Context, company string, f PurchaseFilter, after string, limit int) ([]vtu.Transaction, error) {
	at, err := db.PlaceOf(after)
	if err != nil {
		return nil, err
	}
	args := []any{company, clock.Micros(f.From), untilOf(f.To), f.Type, f.SettlementID, f.Status, at.At, at.ID, limit}
	switch f.Status {
	case "":
		return db.All(ctx, s.db, scanPurchase, purchasesAfter, args...)
	case string(vtu.Success):
		return heavyAfter(ctx, s.db, company, scanPurchase, succeededAfter, args...)
	}
	return heavyAfter(ctx, s.db, company, scanPurchase, ofStateAfter, args...)
}
