package ledger

import "context"

// Prove returns nil once every row that the database has shown is committed for good, on
// the standby too. A caller that answers from a plainly read row calls Prove first. While
// there is no doubt (db.DB.Doubts), as always on SQLite, Prove costs one comparison.
// Otherwise it costs one commit, and it returns a fault of kind Unavailable when that
// commit has no clean answer in the caller's time.
//
// One clean write proves the rows of all companies: a standby receives commits in their
// order.
func (b *Book) Prove(ctx context.Context, company string) error {
	if b.certain(b.db.Doubts()) {
		return nil
	}
	return b.send(ctx, Unit{Company: company, proof: true})
}

// certain tells whether there was a clean write since the last doubt.
func (b *Book) certain(doubts uint64) bool { return b.proven.Load() == doubts }

// prove has the batch write all existing lock rows, if only as they are. It is false if
// none exists: a company without a lock row has no rows.
func (d *decision) prove() (any bool) {
	for _, l := range d.locks {
		l.restated = l.found
		any = any || l.found
	}
	return any
}
