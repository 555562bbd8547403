package event

import (
	"context"
	"regexp"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/ledger"
)

// cleared is the row of an event with the columns that an erasure writes.
type cleared struct {
	Company  string `db:"company_id,key"`
	Sequence int64  `db:"sequence,key"`
	Kind     string `db:"kind,state"`
	Data     string `db:"data,changes"`
	MAC      string `db:"mac,changes"`
}

var clearedRows = db.Declare[cleared]("event")

// customerKinds are the kinds of events that name a customer.
var customerKinds = []string{CustomerCreated, AccountGenerated, TransactionCredit}

// Naming returns the events about a customer that may name them, with numbers after one number and up
// to another, the oldest first.
func (s *Service) Naming(ctx context.Context, company, customerID string, after, through int64, limit int) ([]Event, error) {
	return db.All(ctx, s.db, scan, `SELECT `+columns+` FROM event
		WHERE company_id = $1 AND sequence > $2 AND sequence <= $3 AND kind = ANY($4) AND strpos(data, $5) > 0
		ORDER BY sequence LIMIT $6`, company, after, through, customerKinds, customerID, limit)
}

// These match the values in the data of an event that name or describe a customer. A quotation mark in
// a JSON text follows a backslash, so no part of a text matches.
var (
	personal = regexp.MustCompile(`"(firstName|middleName|lastName|email|phoneNumber|dateOfBirth|accountName|accountNumber)":"(?:[^"\\]|\\.)*"`)
	address  = regexp.MustCompile(`"address":\{(?:[^"}]|"(?:[^"\\]|\\.)*")*\}`)
)

// withoutPerson returns the data of an event about a customer without the customer. It has the same
// fields, so that readers of old events still understand it.
func withoutPerson(data []byte) []byte {
	return address.ReplaceAll(personal.ReplaceAll(data, []byte(`"$1":""`)), []byte(`"address":null`))
}

// Clear adds changes to the unit u. The changes remove the customer from an event and sign the event
// again. Clear returns false if the event does not name the customer. It refuses an event that was
// altered, because the new MAC would hide that.
func (s *Service) Clear(u *ledger.Unit, e Event) (bool, error) {
	if !s.IsGenuine(e) {
		return false, fault.Newf(fault.Refused, "event %d was altered or added: kobo verify says more", e.Sequence)
	}
	after := e
	if after.Data = withoutPerson(e.Data); string(after.Data) == string(e.Data) {
		return false, nil
	}
	if e.Leaf > 0 {
		after.MAC = s.db.Signer().MAC(db.Content(nil, table.Table, table.Record(after).Values))
	}
	row := clearedRows.Record(cleared{e.Company, e.Sequence, e.Kind, string(after.Data), after.MAC})
	u.Transition(row, e.Kind).Expect("mac", e.MAC)
	return true, nil
}
