package safehaven

import (
	"context"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider/sandbox/books"
)

// These are the tables of the bank: sales, statement lines, identities, accounts, the names of
// persons, name enquiries, and transfers in and out.
var (
	sales      = books.NewTable[sale]("sandbox_sale", "UNIQUE (id)", books.StoryRule)
	lines      = books.NewTable[line]("sandbox_line", "CHECK (kind IN ('debit', 'reversal', 'credit'))")
	identities = books.NewTable[identity]("sandbox_identity", "CHECK (state IN ('sent', 'verified', 'used'))")
	holders    = books.NewTable[holder]("sandbox_holder",
		"UNIQUE (id)", "CHECK (kind IN ('main', 'person', 'company', 'adopted', 'virtual'))")
	owners    = books.NewTable[owner]("sandbox_owner")
	enquiries = books.NewTable[enquiry]("sandbox_enquiry")
	transfers = books.NewTable[transfer]("sandbox_transfer", "UNIQUE (session)", "UNIQUE (direction, reference)",
		"CHECK (direction IN ('Inwards', 'Outwards'))", books.StoryRule)
)

var tables = []string{
	sales.Definition(),
	lines.Definition(),
	`CREATE INDEX IF NOT EXISTS sandbox_line_newest ON sandbox_line (created_at)`,
	identities.Definition(),
	`CREATE INDEX IF NOT EXISTS sandbox_identity_person ON sandbox_identity (person)`,
	holders.Definition(),
	`CREATE UNIQUE INDEX IF NOT EXISTS sandbox_holder_reference ON sandbox_holder (reference) WHERE reference <> ''`,
	`CREATE UNIQUE INDEX IF NOT EXISTS sandbox_holder_registration ON sandbox_holder (registration) WHERE registration <> ''`,
	owners.Definition(),
	enquiries.Definition(),
	transfers.Definition(),
	`CREATE INDEX IF NOT EXISTS sandbox_transfer_newest ON sandbox_transfer (direction, created_at)`,
	`CREATE INDEX IF NOT EXISTS sandbox_transfer_account ON sandbox_transfer (account)`,
}

// sale is one purchase.
type sale struct {
	reference   string     `db:"reference,key"` // the client's reference
	id          string     `db:"id"`            // the bank's id of the sale, 24 hex digits
	kind        string     `db:"kind"`          // airtime, data, cable-tv or utility
	category    string     `db:"category"`
	product     string     `db:"product"`
	productName string     `db:"product_name"`
	number      string     `db:"number"`
	amount      money.Kobo `db:"amount_kobo"`
	token       string     `db:"token"` // set only for a prepaid meter
	books.Story
	createdAt int64 `db:"created_at"`
	updatedAt int64 `db:"updated_at,changes"`
}

// acceptSale writes a sale into the books. Unless the sale failed immediately, its price is debited
// in the same transaction.
func (b *Bank) acceptSale(ctx context.Context, v sale, mode string) error {
	v.createdAt = b.Now()
	v.updatedAt = v.createdAt
	return sales.Accept(ctx, b.Books, v, "reference = $1", v.reference, func(q db.Querier) error {
		if v.Status == books.Failed {
			return nil
		}
		return enter(ctx, q, v.line(mode, "debit", -v.amount), v.createdAt)
	})
}

// askSale handles a requery of a sale, by the bank's id or the client's reference. The second
// requery gives a pending sale its final status. The mode decides whether the client's reference is
// known.
func (b *Bank) askSale(ctx context.Context, reference, mode string) (v sale, err error) {
	where := "reference = $1 OR id = $1"
	if !searchable(mode) {
		where = "id = $1"
	}
	err = b.Tx(ctx, func(q db.Querier) (err error) {
		if v, err = sales.One(ctx, q, where, reference); err != nil {
			return err
		}
		if v.Status == books.Pending {
			v.updatedAt = b.Now()
		}
		settled, err := sales.Poll(ctx, q, &v, &v.Story)
		if err != nil || !settled || v.Status != books.Failed {
			return err
		}
		return enter(ctx, q, v.line(mode, "reversal", v.amount), v.updatedAt)
	})
	return v, err
}

// line is one line on the statement of the client's account. The primary key of its table prevents
// a request from being debited or returned twice. Lines that a control request has added differ in
// the column planted, so several of them may have the same reference.
type line struct {
	reference string     `db:"reference,key"` // the reference of the request that caused the line
	kind      string     `db:"kind,key"`      // debit, reversal or credit
	planted   int64      `db:"planted,key"`
	payment   string     `db:"payment"` // the payment reference that the statement shows
	narration string     `db:"narration"`
	amount    money.Kobo `db:"amount_kobo"`  // a negative amount leaves the account
	balance   money.Kobo `db:"balance_kobo"` // after this line
	createdAt int64      `db:"created_at"`
}

// enter changes the balance of the client's account and writes the statement line.
func enter(ctx context.Context, q db.Querier, l line, now int64) (err error) {
	l.createdAt = now
	if l.balance, err = books.Move(ctx, q, debitAccount, l.amount); err != nil {
		return err
	}
	return lines.Insert(ctx, q, l)
}

// identity is one identity check.
type identity struct {
	id        string `db:"id,key"`
	person    string `db:"person"` // a digest of the BVN, because the BVN itself is not stored
	state     string `db:"state,changes"`
	createdAt int64  `db:"created_at"`
}

// mark changes and stores the state of an identity check.
func (v *identity) mark(ctx context.Context, q db.Querier, state string) error {
	v.state = state
	return identities.Update(ctx, q, *v)
}

// holder is an account of this bank.
type holder struct {
	number       string     `db:"number,key"`
	id           string     `db:"id"`
	kind         string     `db:"kind"`
	serial       int64      `db:"serial"`
	reference    string     `db:"reference"`
	fingerprint  string     `db:"fingerprint"` // a digest of the request that opened the account
	registration string     `db:"registration"`
	name         string     `db:"name,changes"`
	callback     string     `db:"callback,changes"`
	control      string     `db:"control"`
	amount       money.Kobo `db:"amount_kobo"`
	validFor     int64      `db:"valid_for"`
	expiresAt    int64      `db:"expires_at"`
	createdAt    int64      `db:"created_at"`

	owner owner // of a person's account; not stored with the account
}

// findHolder returns an account by its number, by the bank's id or by the client's reference.
func findHolder(ctx context.Context, q db.Querier, key string) (holder, error) {
	return holders.One(ctx, q, "number = $1 OR id = $1 OR reference = $1", key)
}

func lastSerial(ctx context.Context, q db.Querier) (int64, error) {
	return db.One(ctx, q, db.Value[int64], `SELECT COALESCE(MAX(serial), 0) FROM sandbox_holder`)
}

// Adopt registers an account that the bank did not open, such as the account of a development
// company. The account can then receive credits, and a name enquiry finds it. If callback is empty,
// notices about the account go to the client's default callback URL. Adopt may be called again for
// the same account.
func (b *Bank) Adopt(ctx context.Context, number, name, callback string) error {
	if len(number) != 10 || !books.IsDigits(number) || callback != "" && !books.IsLocal(callback) {
		return errAdopted
	}
	v := holder{
		number: number, id: books.Digest("adopted", number)[:24], kind: "adopted", name: name, callback: callback, createdAt: b.Now(),
	}
	added, err := holders.Add(ctx, b, v)
	if err == nil && !added {
		err = holders.Update(ctx, b, v)
	}
	return err
}

// BeginWith gives the client's main account an opening balance, if no money has moved on it yet.
func (b *Bank) BeginWith(ctx context.Context, balance money.Kobo) error {
	return b.Begin(ctx, debitAccount, balance)
}

// enquiry is one name enquiry.
type enquiry struct {
	session   string `db:"session,key"`
	bank      string `db:"bank"`
	number    string `db:"number"`
	name      string `db:"name"`
	createdAt int64  `db:"created_at"`
}

// transfer is an incoming or outgoing transfer.
type transfer struct {
	id           string     `db:"id,key"`
	direction    string     `db:"direction"`
	session      string     `db:"session"`
	reference    string     `db:"reference"`
	external     string     `db:"external"` // the client's reference of the virtual account
	account      string     `db:"account"`  // the id of the account at this bank
	virtual      bool       `db:"virtual"`
	enquiry      string     `db:"enquiry"`
	bank         string     `db:"bank"`
	creditNumber string     `db:"credit_number"`
	creditName   string     `db:"credit_name"`
	debitNumber  string     `db:"debit_number"`
	debitName    string     `db:"debit_name"`
	narration    string     `db:"narration"`
	amount       money.Kobo `db:"amount_kobo"`
	reversed     bool       `db:"reversed,changes"`
	books.Story
	createdAt int64 `db:"created_at"`
	updatedAt int64 `db:"updated_at,changes"`
}

// findTransfer returns a transfer by its session ID. If the session ID is empty, it returns an
// outward transfer by the client's reference.
func findTransfer(ctx context.Context, q db.Querier, session, reference string) (transfer, error) {
	if session != "" {
		return transfers.One(ctx, q, "session = $1", session)
	}
	return transfers.One(ctx, q, outwardReference, reference)
}

const outwardReference = "direction = 'Outwards' AND reference = $1"

// isPaidInto reports whether an account has received a successful transfer.
func (b *Bank) isPaidInto(ctx context.Context, account string) (bool, error) {
	n, err := db.One(ctx, b, db.Value[int64], `SELECT COUNT(*) FROM sandbox_transfer WHERE account = $1 AND status = 'successful'`, account)
	return n > 0, err
}

// requests returns the sales, payouts and credits that the bank recorded, whether it carried them out or not.
func (b *Bank) requests(ctx context.Context, reference string) (rows []books.Row, err error) {
	const asked = "($1 = '' OR reference = $1) ORDER BY created_at, "
	sold, err := sales.All(ctx, b, asked+"reference", reference)
	if err != nil {
		return nil, err
	}
	for _, v := range sold {
		rows = append(rows, v.Row(v.reference, v.kind, v.amount, v.number, v.createdAt))
	}
	moved, err := transfers.All(ctx, b, asked+"id", reference)
	for _, v := range moved {
		kind := "payout"
		if v.direction == inwards {
			kind = "credit"
		}
		if v.reversed {
			v.Status = "reversed"
		}
		row := v.Row(v.reference, kind, v.amount, v.creditNumber, v.createdAt)
		if v.direction != inwards {
			row.Bank = v.bank
		}
		rows = append(rows, row)
	}
	return rows, err
}

// announce writes copies of the notice of a transfer. The copies are sent at the time from or
// later. If callback is empty, they are sent to the client's default callback URL.
func announce(ctx context.Context, q db.Querier, callback string, t transfer, from, copies int64) error {
	body, err := t.notice()
	if err != nil {
		return err
	}
	return books.Announce(ctx, q, books.Notice{Sender: sender, URL: callback, Body: string(body), NextAt: from, At: t.updatedAt}, copies)
}
