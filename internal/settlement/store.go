package settlement

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/ledger"
)

const (
	accountColumns = `company_id, id, name, status, created_at`
	feederColumns  = `company_id, account_number, bank_code, account_name, bank_name, created_at, settlement_id, turn`
	creditColumns  = `company_id, id, provider, session_id, account_number, sender_name, sender_account, sender_bank, narration,
		amount_kobo, told_at, reference, settlement_id, created_at`
	adjustmentColumns = `company_id, id, settlement_id, amount_kobo, direction, reason, state, created_by, decided_by, note,
		created_at, decided_at`
	findingColumns = `company_id, id, account_id, detail, state, mac, created_at`
)

var (
	accounts    = db.Declare[Account]("settlement_account", db.Reads(accountColumns))
	feeders     = db.Declare[feeder]("settlement_bank_account", db.Reads(feederColumns))
	credits     = db.Declare[creditRow]("settlement_credit", db.Reads(creditColumns), db.Unique("company_id", "provider", "session_id"))
	adjustments = db.Declare[Adjustment]("settlement_adjustment", db.Reads(adjustmentColumns))
	transfers   = db.Declare[Transfer]("settlement_transfer")
	findings    = db.Declare[finding]("settlement_finding", db.Reads(findingColumns))
)

// feeder is a bank account with the settlement account that it feeds.
type feeder struct {
	Company string `db:"company_id,key"`
	BankAccount
	SettlementID int64 `db:"settlement_id,changes"`
	Turn         int64 `db:"turn,version"`
}

// creditRow is a row of the credits table: a credit with its company and settlement account.
type creditRow struct {
	Company string `db:"company_id,key"`
	Credit
	SettlementID int64     `db:"settlement_id"` // 0 for a credit in suspense
	CreatedAt    time.Time `db:"created_at"`
}

func (s *Service) accounts(ctx context.Context, company string) ([]Account, error) {
	return db.All(ctx, s.DB, accounts.Scan,
		`SELECT `+accountColumns+` FROM settlement_account WHERE company_id = $1 ORDER BY id`, company)
}

func (s *Service) status(ctx context.Context, company string, settlementID int64) (Status, error) {
	return db.One(ctx, s.DB, db.Value[Status],
		`SELECT status FROM settlement_account WHERE company_id = $1 AND id = $2`, company, settlementID)
}

// feeders returns all bank accounts that feed the company's settlement accounts, the oldest
// first.
func (s *Service) feeders(ctx context.Context, company string) ([]feeder, error) {
	all, err := db.All(ctx, s.DB, feeders.Scan, `SELECT `+feederColumns+` FROM settlement_bank_account WHERE company_id = $1`, company)
	sortByAge(all)
	return all, err
}

func sortByAge(all []feeder) {
	slices.SortFunc(all, func(a, b feeder) int {
		return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Number, b.Number))
	})
}

// findFeeder returns one bank account of the company, with the settlement account that it feeds.
func (s *Service) findFeeder(ctx context.Context, company string, b BankAccount) (feeder, error) {
	return db.One(ctx, s.DB, feeders.Scan, `SELECT `+feederColumns+` FROM settlement_bank_account
		WHERE company_id = $1 AND account_number = $2 AND bank_code = $3`, company, b.Number, b.BankCode)
}

// fed returns the settlement account that a bank account of the company feeds.
func (s *Service) fed(ctx context.Context, company, accountNumber string) (int64, error) {
	return db.One(ctx, s.DB, db.Value[int64],
		`SELECT settlement_id FROM settlement_bank_account WHERE company_id = $1 AND account_number = $2`, company, accountNumber)
}

// enter writes a bank account into the directory, and returns its owner. If two companies enter
// the same account, the first company owns it.
func (s *Service) enter(ctx context.Context, company string, b BankAccount) (owner string, err error) {
	return db.Reserve(ctx, s.DB, `
		INSERT INTO settlement_directory (account_number, bank_code, company_id) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`, `
		SELECT company_id FROM settlement_directory WHERE account_number = $1 AND bank_code = $2`, company, b.Number, b.BankCode)
}

// holders returns up to two companies that own an account number. Two companies may own the same
// number at different banks.
func (s *Service) holders(ctx context.Context, accountNumber string) ([]string, error) {
	return db.All(ctx, s.DB, db.Value[string],
		`SELECT DISTINCT company_id FROM settlement_directory WHERE account_number = $1 LIMIT 2`, accountNumber)
}

// Numbers returns the numbers of the bank accounts at one bank that feed settlement accounts of any
// company, in their order. It returns up to most numbers, and only those after a number. The accounts of
// collections are not among them, since they end with the collection.
func (s *Service) Numbers(ctx context.Context, bankCode, after string, most int) ([]string, error) {
	return db.All(ctx, s.DB, db.Value[string], `SELECT d.account_number FROM settlement_directory AS d
		JOIN settlement_bank_account AS b ON b.company_id = d.company_id AND b.account_number = d.account_number AND b.bank_code = d.bank_code
		WHERE d.bank_code = $1 AND d.account_number > $2 ORDER BY d.account_number LIMIT $3`, bankCode, after, most)
}

// findAdjustment returns an adjustment of any company, since operators name an adjustment only by
// its ID.

func (s *Service) findAdjustment(ctx context.Context, adjustmentID string) (Adjustment, error) {
	return db.One(ctx, s.DB, adjustments.Scan, `SELECT `+adjustmentColumns+` FROM settlement_adjustment WHERE id = $1`, adjustmentID)
}

// Adjustments returns a page of all companies' adjustments in a state, the newest first, and
// their total count. An empty state selects the adjustments in any state.
func (s *Service) Adjustments(ctx context.Context, state AdjustmentState, limit, offset int) ([]Adjustment, int64, error) {
	return db.Page(ctx, s.DB, "", adjustments.Scan,
		`SELECT count(*) FROM settlement_adjustment WHERE ($1 = '' OR state = $1)`, `SELECT `+adjustmentColumns+` FROM settlement_adjustment
		WHERE ($1 = '' OR state = $1) ORDER BY created_at DESC, id DESC LIMIT $2 OFFSET $3`, limit, offset, string(state))
}

// SQL statements that read the adjustments after a place, the newest first. Those in one state have an index of their own.
const (
	adjustmentsAfter = `SELECT ` + adjustmentColumns + ` FROM settlement_adjustment WHERE `
	isAfter          = `(created_at, id) < ($1, $2) ORDER BY created_at DESC, id DESC LIMIT $3`
	inStateAfter     = `state = $4 AND `
)

// Cursor returns the place of an adjustment in the list of adjustments.
func (a Adjustment) Cursor() string {
	return db.Place{At: clock.Micros(a.CreatedAt), ID: a.ID}.Cursor()
}

// AdjustmentsAfter returns at most limit adjustments of all companies in a state, the newest first. They follow the adjustment
// with the cursor after, which is "" for the newest ones. A wrong cursor is a fault of the kind Invalid.
func (s *Service) AdjustmentsAfter(ctx context.Context, state AdjustmentState, after string, limit int) ([]Adjustment, error) {
	at, err := db.PlaceOf(after)
	if err != nil {
		return nil, err
	}
	if state == "" {
		return db.All(ctx, s.DB, adjustments.Scan, adjustmentsAfter+isAfter, at.At, at.ID, limit)
	}
	return db.All(ctx, s.DB, adjustments.Scan, adjustmentsAfter+inStateAfter+isAfter, at.At, at.ID, limit, string(state))
}

// findings returns the stored findings about some breaks of a company, by ID.
func (s *Service) findings(ctx context.Context, company string, breaks []ledger.Break) (map[string]finding, error) {
	ids := make([]string, len(breaks))
	for i, b := range breaks {
		ids[i] = b.ID
	}
	list, err := db.All(ctx, s.DB, findings.Scan, `SELECT `+findingColumns+` FROM settlement_finding
		WHERE company_id = $1 AND id = ANY($2)`, company, ids)
	out := map[string]finding{}
	for _, f := range list {
		out[f.ID] = f
	}
	return out, err
}

// findingsAt returns all findings about rows of one account of a company.
func (s *Service) findingsAt(ctx context.Context, company, account string) ([]finding, error) {
	return db.All(ctx, s.DB, findings.Scan, `SELECT `+findingColumns+` FROM settlement_finding
		WHERE company_id = $1 AND account_id = $2 ORDER BY id`, company, account)
}

const selectSession = `SELECT company_id FROM settlement_session WHERE provider = $1 AND session_id = $2`

// decideFor stores the owner of the credit with this session ID, and returns the stored owner. If
// an owner is stored already, that owner stays.
func (s *Service) decideFor(ctx context.Context, c Credit, company string) (owner string, err error) {
	return db.Reserve(ctx, s.DB, `
		INSERT INTO settlement_session (provider, session_id, company_id) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
		selectSession, company, c.Provider, c.Session)
}

// decided returns the owner that is stored for the credit's session ID.
func (s *Service) decided(ctx context.Context, c Credit) (string, error) {
	return db.One(ctx, s.DB, db.Value[string], selectSession, c.Provider, c.Session)
}

// credited reports whether the company's ledger has a credit with this provider and session.
func (s *Service) credited(ctx context.Context, company string, c Credit) (bool, error) {
	n, err := db.One(ctx, s.DB, db.Value[int64], `
		SELECT count(*) FROM settlement_credit WHERE company_id = $1 AND provider = $2 AND session_id = $3`,
		company, c.Provider, c.Session)
	return n > 0, err
}

// Senders returns the payers of some of a company's credits, by the IDs of the credits. An unknown ID
// is left out.
func (s *Service) Senders(ctx context.Context, company string, ids []string) (map[string]Sender, error) {
	type row struct {
		id string
		Sender
	}
	list, err := db.All(ctx, s.DB, db.Fields[row], `SELECT id, sender_name, sender_bank, sender_account FROM settlement_credit
		WHERE company_id = $1 AND id = ANY($2)`, company, ids)
	out := make(map[string]Sender, len(list))
	for _, r := range list {
		out[r.id] = r.Sender
	}
	return out, err
}

// suspendedIn returns the credit in the fintech's own ledger that a case's subject names. The
// subject consists of the bank and the session ID.
func (s *Service) suspendedIn(ctx context.Context, subject string) (Credit, error) {
	bank, session, _ := strings.Cut(subject, "/")
	return s.FindCredit(ctx, House, bank, session)
}

// FindCredit returns the credit in a company's ledger with this provider and session ID, or db.ErrNone.
func (s *Service) FindCredit(ctx context.Context, company, provider, session string) (Credit, error) {
	row, err := db.One(ctx, s.DB, credits.Scan, `SELECT `+creditColumns+` FROM settlement_credit
		WHERE company_id = $1 AND provider = $2 AND session_id = $3`, company, provider, session)
	return row.Credit, err
}
