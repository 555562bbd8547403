package payout

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
)

const verificationColumns = `v.company_id, v.id, v.settlement_id, v.provider, v.bank_code, v.bank_name,
	v.account_number, v.account_name, v.session, v.credentials, v.created_at`

const beneficiaryColumns = `company_id, bank_code, account_number, bank_name, account_name, label, created_at`

var (
	verifications = db.Declare[Verification]("payout_verification", db.Reads(verificationColumns))
	payouts       = db.Declare[payoutRow]("payout")
	fees          = db.Declare[feeRow]("payout_fee")
	limits        = db.Declare[limitRow]("payout_limit")
	beneficiaries = db.Declare[Beneficiary]("payout_beneficiary", db.Reads(beneficiaryColumns))
)

// payoutRow is the database row of a payout. The payout's amount and state are in the row of its
// operation.
type payoutRow struct {
	Company   string    `db:"company_id,key"`
	ID        string    `db:"id,key"` // the ID of both the operation and the verification
	Narration string    `db:"narration"`
	Session   string    `db:"session"` // the session of the name enquiry that the payout used
	CreatedAt time.Time `db:"created_at"`
	// SettlementID is 0 in rows from before schema 97. The verification has it in every case.
	SettlementID int64 `db:"settlement_id"`
}

// The counters of the changes of a company's fees and of its limits. Each change counts one. If somebody else has made a
// change since the highest version was read, the ledger refuses the commit (ledger.Over).
const feesSet = "set/fees"

func limitSet(settlementID int64) string { return "set/limit/" + strconv.FormatInt(settlementID, 10) }

// lastFees returns the highest version of the company's fee schedules, and how often they were changed. The count is
// read first, so that it is never newer than the version.
func (s *Service) lastFees(ctx context.Context, company string) (version string, changes int64, err error) {
	if changes, err = s.Book.Last(ctx, company, feesSet); err == nil {
		version, err = db.One(ctx, s.DB, db.Value[string], `SELECT coalesce(max(version), '') FROM payout_fee WHERE company_id = $1`, company)
	}
	return version, changes, err
}

// lastLimit returns the same for the limits of a company (settlementID 0) or of a settlement account.
func (s *Service) lastLimit(ctx context.Context, company string, settlementID int64) (version string, changes int64, err error) {
	if changes, err = s.Book.Last(ctx, company, ledger.Next(limitSet(settlementID))); err == nil {
		version, err = db.One(ctx, s.DB, db.Value[string], `SELECT coalesce(max(version), '') FROM payout_limit
			WHERE company_id = $1 AND settlement_id = $2`, company, settlementID)
	}
	return version, changes, err
}

// feeRow is a band of a schedule. The schedule with the highest version is in force.
type feeRow struct {
	Company string `db:"company_id,key"`
	Version string `db:"version,key"`
	Band
	CreatedAt time.Time `db:"created_at"`
}

// limitRow is a daily limit of a company or of a settlement account. The limit with the highest
// version is in force.
type limitRow struct {
	Company      string `db:"company_id,key"`
	SettlementID int64  `db:"settlement_id,key"` // 0 for the whole company
	Version      string `db:"version,key"`
	Limit
}

// terms is a verification with the limits and one band of the fee schedule that are now in force.
type terms struct {
	Verification
	Band
	whole, own struct {
		Amount  money.Kobo
		Payouts int64
	}
}

// findTerms reads a verification, the company's fee schedule, the company's limit and the
// settlement account's limit in one statement. It returns one row for each band of the schedule,
// and one row without a band if the company has no schedule.
func (s *Service) findTerms(ctx context.Context, company, verifyID string) ([]terms, error) {
	return db.All(ctx, s.DB, func(sc db.Scanner) (terms, error) {
		var t terms
		err := sc.Scan(append(verifications.Targets(&t.Verification), &t.From, &t.Flat, &t.BasisPoints, &t.Cap,
			&t.whole.Amount, &t.whole.Payouts, &t.own.Amount, &t.own.Payouts)...)
		return t, err
	}, `SELECT `+verificationColumns+`,
			coalesce(f.from_kobo, 0), coalesce(f.flat_kobo, 0), coalesce(f.basis_points, 0), coalesce(f.cap_kobo, 0),
			coalesce(w.amount_kobo, 0), coalesce(w.payouts, 0), coalesce(o.amount_kobo, 0), coalesce(o.payouts, 0)
		FROM payout_verification AS v
		LEFT JOIN payout_fee AS f ON f.company_id = v.company_id
			AND f.version = (SELECT max(version) FROM payout_fee WHERE company_id = $1)
		LEFT JOIN payout_limit AS w ON w.company_id = v.company_id AND w.settlement_id = 0
			AND w.version = (SELECT max(version) FROM payout_limit WHERE company_id = $1 AND settlement_id = 0)
		LEFT JOIN payout_limit AS o ON o.company_id = v.company_id AND o.settlement_id = v.settlement_id
			AND o.version = (SELECT max(version) FROM payout_limit WHERE company_id = $1 AND settlement_id = v.settlement_id)
		WHERE v.company_id = $1 AND v.id = $2 ORDER BY f.from_kobo`, company, verifyID)
}

// order is a payout's beneficiary account and narration.
type order struct {
	Verification
	Narration string
}

// RowColumns lists the columns of a payout in the order of Row.Targets. The SQL query must use the
// alias v for the verifications' table.
const RowColumns = verificationColumns + `, payout.narration`

// Row is a payout without its operation.
type Row struct{ order }

// Targets returns pointers to the fields of r, in the order of RowColumns.
func (r *Row) Targets() []any { return append(verifications.Targets(&r.Verification), &r.Narration) }

// Of returns the payout of an operation.
func (r Row) Of(o operation.Operation) Payout { return payoutOf(o, r.order) }

func (s *Service) findPayout(ctx context.Context, company, reference string) (order, error) {
	return db.One(ctx, s.DB, db.Fields[order], `SELECT `+verificationColumns+`, payout.narration
		FROM payout JOIN payout_verification AS v ON v.company_id = payout.company_id AND v.id = payout.id
		WHERE payout.company_id = $1 AND payout.id = $2`, company, reference)
}

// owner returns the company of a payout. A bank's notification contains only the reference.
func (s *Service) owner(ctx context.Context, reference string) (string, error) {
	return db.One(ctx, s.DB, db.Value[string], `SELECT company_id FROM payout WHERE id = $1`, reference)
}

// FeesSince returns the company's fee schedule in force and the time from which it applies. For
// a company that never had a schedule, FeesSince returns an empty schedule and a zero time.
func (s *Service) FeesSince(ctx context.Context, company string) (Schedule, time.Time, error) {
	rows, err := db.All(ctx, s.DB, fees.Scan, `SELECT company_id, version, from_kobo, flat_kobo, basis_points, cap_kobo, created_at
		FROM payout_fee WHERE company_id = $1 AND version = (SELECT max(version) FROM payout_fee WHERE company_id = $1)
		ORDER BY from_kobo`, company)
	if len(rows) == 0 || err != nil {
		return nil, time.Time{}, err
	}
	schedule := make(Schedule, len(rows))
	for i, r := range rows {
		schedule[i] = r.Band
	}
	return Kept(schedule), rows[0].CreatedAt, nil
}

// Terms are a company's fee schedule in force.
type Terms struct {
	Schedule Schedule
	Since    time.Time // zero if the company never had a schedule
}

// FeesOf returns the fee schedules in force of some companies. A company that never had a schedule is not in
// the map.
func (s *Service) FeesOf(ctx context.Context, companies []string) (map[string]Terms, error) {
	rows, err := db.All(ctx, s.DB, fees.Scan, `SELECT f.company_id, f.version, f.from_kobo, f.flat_kobo, f.basis_points, f.cap_kobo, f.created_at
		FROM payout_fee AS f WHERE f.company_id = ANY($1) AND f.version = (SELECT max(n.version) FROM payout_fee AS n WHERE n.company_id = f.company_id)
		ORDER BY f.company_id, f.from_kobo`, companies)
	out := map[string]Terms{}
	for _, r := range rows {
		t := out[r.Company]
		out[r.Company] = Terms{append(t.Schedule, r.Band), r.CreatedAt}
	}
	for company, t := range out {
		out[company] = Terms{Kept(t.Schedule), t.Since}
	}
	return out, err
}

// Limit returns the daily limit in force for a company (settlementID 0) or for a settlement
// account.
func (s *Service) Limit(ctx context.Context, company string, settlementID int64) (Limit, error) {
	return db.OrZero(db.One(ctx, s.DB, db.Fields[Limit], `SELECT amount_kobo, payouts, created_at FROM payout_limit
		WHERE company_id = $1 AND settlement_id = $2 ORDER BY version DESC LIMIT 1`, company, settlementID))
}

// limits returns the daily limits in force, by settlement account. The key 0 is the limit of the whole company.
func (s *Service) limits(ctx context.Context, company string) (map[int64]Limit, error) {
	type row struct {
		SettlementID int64
		Limit
	}
	rows, err := db.All(ctx, s.DB, db.Fields[row], `SELECT settlement_id, amount_kobo, payouts, created_at FROM payout_limit AS l
		WHERE company_id = $1 AND version = (SELECT max(version) FROM payout_limit WHERE company_id = $1 AND settlement_id = l.settlement_id)`, company)
	out := map[int64]Limit{}
	for _, r := range rows {
		out[r.SettlementID] = r.Limit
	}
	return out, err
}

func (s *Service) banks(ctx context.Context, from string) ([]Bank, error) {
	return db.All(ctx, s.DB, db.Fields[Bank], `SELECT name, code FROM payout_bank WHERE provider = $1 AND active = 1`, from)
}

func (s *Service) findBank(ctx context.Context, from, code string) (string, error) {
	return db.One(ctx, s.DB, db.Value[string], `SELECT name FROM payout_bank WHERE provider = $1 AND code = $2`, from, code)
}

func saveBank(ctx context.Context, q db.Querier, from string, b provider.BankCode, at time.Time) error {
	_, err := q.Exec(ctx, `
		INSERT INTO payout_bank (provider, code, name, active, updated_at) VALUES ($1, $2, $3, 1, $4)
		ON CONFLICT (provider, code) DO UPDATE SET name = excluded.name, active = 1, updated_at = excluded.updated_at`,
		from, b.Code, b.Name, clock.Micros(at))
	return err
}

// retireBanks marks the banks that were missing from the latest list as inactive. It does not
// delete their rows, because earlier payouts refer to these banks.
func retireBanks(ctx context.Context, q db.Querier, from string, at time.Time) error {
	_, err := q.Exec(ctx, `UPDATE payout_bank SET active = 0 WHERE provider = $1 AND updated_at < $2`, from, clock.Micros(at))
	return err
}

// takeSync reports whether the next copy of a provider's bank list is due. The copy is due if the
// stored due time is not after the parameter by. In that case takeSync stores the parameter next as
// the new due time.
func (s *Service) takeSync(ctx context.Context, from string, by, next time.Time) (bool, error) {
	n, err := s.DB.Exec(ctx, `
		INSERT INTO payout_sync (provider, due_at) VALUES ($1, $3)
		ON CONFLICT (provider) DO UPDATE SET due_at = excluded.due_at WHERE payout_sync.due_at <= $2`,
		from, clock.Micros(by), clock.Micros(next))
	return n == 1, err
}

func (s *Service) findBulk(ctx context.Context, company, bulkID string) (bulkRow, error) {
	return db.One(ctx, s.DB, bulks.Scan, `SELECT `+bulkColumns+` FROM payout_bulk WHERE company_id = $1 AND id = $2`, company, bulkID)
}

// bulkLines returns the lines of a bulk payout in their order.
func (s *Service) bulkLines(ctx context.Context, company, bulkID string) ([]lineRow, error) {
	return db.All(ctx, s.DB, bulkLines.Scan, `SELECT `+lineColumns+` FROM payout_bulk_line
		WHERE company_id = $1 AND bulk_id = $2 ORDER BY line`, company, bulkID)
}

// bulkRows returns bulk payouts of the company in a state, or in any state, the newest first. It begins below
// the ID before, unless that is "".
func (s *Service) bulkRows(ctx context.Context, company string, state BulkState, before string, limit int) ([]bulkRow, error) {
	if before == "" {
		before = "g" // above every ID, which has hexadecimal digits
	}
	return db.All(ctx, s.DB, bulks.Scan, `SELECT `+bulkColumns+` FROM payout_bulk
		WHERE company_id = $1 AND id < $2 AND ($3 = '' OR state = $3) ORDER BY id DESC LIMIT $4`, company, before, string(state), limit)
}

// lineAmounts returns the verdicts, payouts and amounts of the lines of bulk payouts, by the IDs of the bulk
// payouts. The other fields of the lines are empty.
func (s *Service) lineAmounts(ctx context.Context, company string, bulkIDs []string) (map[string][]lineRow, error) {
	all, err := db.All(ctx, s.DB, func(sc db.Scanner) (l lineRow, err error) {
		err = sc.Scan(&l.BulkID, &l.Verdict, &l.Reference, &l.Amount)
		return l, err
	}, `SELECT bulk_id, verdict, reference, amount_kobo FROM payout_bulk_line
		WHERE company_id = $1 AND bulk_id = ANY($2)`, company, bulkIDs)
	out := map[string][]lineRow{}
	for _, l := range all {
		out[l.BulkID] = append(out[l.BulkID], l)
	}
	return out, err
}

// paidAccounts returns the payouts to some accounts since an instant, the newest first.
func (s *Service) paidAccounts(ctx context.Context, company string, accounts []string, since time.Time, limit int) ([]paidTo, error) {
	return db.All(ctx, s.DB, db.Fields[paidTo], `SELECT v.id, v.bank_code, v.account_number
		FROM payout_verification AS v JOIN payout AS p ON p.company_id = v.company_id AND p.id = v.id
		WHERE v.company_id = $1 AND v.account_number = ANY($2) AND v.created_at >= $3 AND p.created_at >= $4
		ORDER BY p.created_at DESC, p.id DESC LIMIT $5`,
		company, accounts, clock.Micros(since.Add(-enquiryAge)), clock.Micros(since), limit)
}

// Beneficiaries returns the accounts that a company keeps, by label and then by name.
func (s *Service) Beneficiaries(ctx context.Context, company string) ([]Beneficiary, error) {
	return db.All(ctx, s.DB, beneficiaries.Scan, `SELECT `+beneficiaryColumns+` FROM payout_beneficiary
		WHERE company_id = $1 ORDER BY label, account_name, bank_code, account_number LIMIT $2`, company, MaxBeneficiaries)
}

// Cursor returns the place of a kept account in the list of its company.
func (b Beneficiary) Cursor() string {
	return db.Place{At: clock.Micros(b.CreatedAt), ID: b.BankCode + "/" + b.AccountNumber}.Cursor()
}

// BeneficiariesAfter returns at most limit accounts that a company keeps, the one that was kept last first. They follow the account
// with the cursor after, which is "" for the first ones. A wrong cursor is a fault of the kind Invalid.
func (s *Service) BeneficiariesAfter(ctx context.Context, company, after string, limit int) ([]Beneficiary, error) {
	at, err := db.PlaceOf(after)
	if err != nil {
		return nil, err
	}
	return db.All(ctx, s.DB, beneficiaries.Scan, `SELECT `+beneficiaryColumns+` FROM payout_beneficiary
		WHERE company_id = $1 AND (created_at, bank_code || '/' || account_number) < ($2, $3)
		ORDER BY created_at DESC, bank_code || '/' || account_number DESC LIMIT $4`, company, at.At, at.ID, limit)
}

// CountBeneficiaries returns the number of accounts that a company keeps.
func (s *Service) CountBeneficiaries(ctx context.Context, company string) (int, error) {
	n, err := db.One(ctx, s.DB, db.Value[int64], `SELECT count(*) FROM payout_beneficiary WHERE company_id = $1`, company)
	return int(n), err
}

// Beneficiary returns an account that a company keeps.
func (s *Service) Beneficiary(ctx context.Context, company, bankCode, account string) (Beneficiary, error) {
	b, err := db.One(ctx, s.DB, beneficiaries.Scan, `SELECT `+beneficiaryColumns+` FROM payout_beneficiary
		WHERE company_id = $1 AND bank_code = $2 AND account_number = $3`, company, bankCode, account)
	if errors.Is(err, db.ErrNone) {
		err = errNotKept
	}
	return b, err
}
