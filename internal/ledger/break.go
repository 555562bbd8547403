package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/kobo-waas/kobo/internal/db"
)

// Genuine reports whether a row in TransferTable has the MAC that this ledger gave it. A nil Genuine
// trusts each row.
type Genuine func(row []string) bool

// Break is a row that does not verify, or a place between two rows where an account's entries do not
// fit together.
type Break struct {
	Account string // the account of the row; "" for a row that belongs to no account
	ID      string // a hash of the place and of its present content
	Text    string // the finding, a sentence for operators
}

// NewBreak returns a break with the ID of this place and content.
func NewBreak(account, place, content, text string) Break {
	hash := sha256.Sum256([]byte(strings.Join([]string{account, place, content}, "\x00")))
	return Break{account, hex.EncodeToString(hash[:16]), text}
}

// MostBreaks is the number of breaks after which a reading stops, so that its caller can store them.
const MostBreaks = 500

// pairedFields is the number of columns of pairedFrom. The columns of the transfer begin at transferAt.
const (
	transferAt   = 8
	pairedFields = 22
)

const altered = "transfer %s was altered or added: its MAC is wrong"

// verifyEntry adds one entry to its account. The row has the columns of pairedFrom.
func (r *Report) verifyEntry(a *AccountSum, row []string, genuine Genuine) error {
	e := line{account: a.ID, reference: row[4], step: row[5]}
	var paired int64
	err := db.Numbers(row, &e.sequence, &e.previous, &e.current, &paired)
	last := a.place()
	before := a.add(e)
	r.ends(a.ID, last, Place{e.sequence - 1, e.previous}, brokenChain, e.sequence, e.account, e.previous, before)
	text := ""
	switch transfer := row[transferAt:]; {
	case paired == 0:
		text = notPaired
	case genuine != nil && !genuine(transfer):
		text = altered
	default:
		return err
	}
	r.breakAt(a.ID, fmt.Sprintf("entry %d", e.sequence), strings.Join(row, "\x00"), text, e.reference+" "+e.step)
	return err
}

// ends adds a break if the entries of an account end at the place last, but the next row continues
// from the place next. A further entry follows, or the account itself after the last entry. So
// the break has the same ID after a further entry was booked.
func (r *Report) ends(account string, last, next Place, format string, args ...any) {
	if last != next {
		r.breakAt(account, fmt.Sprintf("after entry %d", last.Sequence), fmt.Sprint(last, next), format, args...)
	}
}

// breakAt adds a break, and the same sentence to the findings.
func (r *Report) breakAt(account, place, content, format string, args ...any) {
	r.wrongRow(format, args...)
	r.Breaks = append(r.Breaks, NewBreak(account, place, content, r.Company+": "+fmt.Sprintf(format, args...)))
}
