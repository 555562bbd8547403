package ledger

import "context"

// Prove returns nil once each row that the database has shown so far is committed
// for good: on the standby too, where there is one. A caller who answers from a row
// that a plain reading showed asks first. The price is one comparison while there is
// no doubt (db.DB.Doubts), as always on SQLite; else it is one commit, and a fault
// of kind Unavailable when that has no clean answer in the caller's time.
//
// One clean write proves the rows of all companies: a standby receives commits in
// their order.
func (b *Book) Prove(ctx context.Context, company string) error {
	if b.certain(b.db.Doubts()) {
		return nil
	}
	return b.send(ctx, Unit{Company: company, proof: true})
}

// certain tells whether there was a clean write since the last doubt.
func (b *Book) certain(doubts uint64) bool { return b.proven.Load() == doubts }

// prove has the batch write the lock rows that are there, if only as they are. It
// tells whether there are any: a company without a lock row has no rows.
func (d *decision) prove() (any bool) {
	for _, h := range d.heads {
		h.restated = h.found
		any = any || h.found
	}
	return any
}
