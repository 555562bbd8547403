package operator

import (
	"context"
	"encoding/json"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
)

const auditColumns = `company_id, id, operator, action, subject, created_at, details`

var audit = db.Declare[auditRow]("operator_audit", db.Reads(auditColumns))

// auditRow is a line of the audit log with its details as JSON.
type auditRow struct {
	Line
	Text json.RawMessage `db:"details"`
}

// insertLine inserts a line of the audit log without a ledger unit.
func insertLine(ctx context.Context, q db.Querier, line db.Record) error {
	_, err := q.Exec(ctx, `INSERT INTO operator_audit (`+auditColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7)`, line.Values...)
	return err
}

// Audit returns a page of the audit log, the newest line first, and the total count. It returns
// the lines of one company, or of all companies if company is "".
func (s *Service) Audit(ctx context.Context, company string, limit, offset int) ([]Line, int64, error) {
	return db.Page(ctx, s.db, "", func(r db.Scanner) (Line, error) {
		row, err := audit.Scan(r)
		if err == nil {
			err = json.Unmarshal(row.Text, &row.Details)
		}
		return row.Line, err
	}, `SELECT count(*) FROM operator_audit WHERE ($1 = '' OR company_id = $1)`, `SELECT `+auditColumns+` FROM operator_audit
		WHERE ($1 = '' OR company_id = $1) ORDER BY id DESC LIMIT $2 OFFSET $3`, limit, offset, company)
}

// insertKey inserts a key, and returns the number of rows. It inserts no row if the name has a
// working key.
func insertKey(ctx context.Context, q db.Querier, k Key) (int64, error) {
	return q.Exec(ctx, `
		INSERT INTO operator_key (id, name, hash, state, created_at, role, expires_at, used_at) VALUES ($1, $2, $3, $4, $5, $6, $7, 0)
		ON CONFLICT DO NOTHING`, k.ID, k.Name, k.hash, k.State, clock.Micros(k.CreatedAt), string(k.Role), clock.Micros(k.ExpiresAt))
}

// revokeKey revokes the working key of a person, and removes its hash. So a change of the state
// alone does not make the key work again.
func revokeKey(ctx context.Context, q db.Querier, name string) (int64, error) {
	return q.Exec(ctx, `UPDATE operator_key SET state = $2, hash = '' WHERE name = $1 AND state = $3`, name, revoked, active)
}

func setRole(ctx context.Context, q db.Querier, name string, role Role) (int64, error) {
	return q.Exec(ctx, `UPDATE operator_key SET role = $2 WHERE name = $1 AND state = $3`, name, string(role), active)
}

// Keys returns all keys, the oldest first.
func (s *Service) Keys(ctx context.Context) ([]Key, error) {
	return db.All(ctx, s.db, db.Fields[Key], `
		SELECT id, name, hash, state, created_at, role, expires_at, used_at FROM operator_key ORDER BY created_at, id`)
}

// renewKey stores that a key is used now, and replaces its hash with a newer hash of the same key.
func (s *Service) renewKey(ctx context.Context, k Key, hash string, now time.Time) error {
	_, err := s.db.Exec(ctx, `UPDATE operator_key SET hash = $3, used_at = $4 WHERE id = $1 AND hash = $2`, k.ID, k.hash, hash, clock.Micros(now))
	return err
}

func findAccess(ctx context.Context, q db.Querier) (Access, error) {
	return db.One(ctx, q, db.Fields[Access], `SELECT 1, reason, closed_at, automatic FROM operator_door WHERE id = 1`)
}

func closeAccess(ctx context.Context, q db.Querier, reason string, at time.Time, automatic bool) error {
	_, err := q.Exec(ctx, `
		INSERT INTO operator_door (id, reason, closed_at, automatic) VALUES (1, $1, $2, $3)
		ON CONFLICT (id) DO UPDATE SET reason = excluded.reason,
			automatic = CASE WHEN excluded.automatic = 1 THEN 1 ELSE operator_door.automatic END`, reason, clock.Micros(at), db.Flag(automatic))
	return err
}

func openAccess(ctx context.Context, q db.Querier) (int64, error) {
	return q.Exec(ctx, `DELETE FROM operator_door WHERE id = 1`)
}

const proposalColumns = `id, company, state, proposed_by, decided_by, note, created_at, expires_at, decided_at, acts`

var proposals = db.Declare[proposalRow]("operator_proposal", db.Reads(proposalColumns))

// proposalRow is a proposal with its acts as JSON.
type proposalRow struct {
	Proposal
	Text json.RawMessage `db:"acts"`
}

func scanProposal(r db.Scanner) (Proposal, error) {
	row, err := proposals.Scan(r)
	if err == nil {
		err = json.Unmarshal(row.Text, &row.Acts)
	}
	return row.Proposal, err
}

func insertProposal(ctx context.Context, q db.Querier, p Proposal) (int64, error) {
	acts, err := json.Marshal(p.Acts)
	if err != nil {
		return 0, err
	}
	return q.Exec(ctx, `INSERT INTO operator_proposal (`+proposalColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
		proposals.Record(proposalRow{p, acts}).Values...)
}

func (s *Service) findProposal(ctx context.Context, proposalID string) (Proposal, error) {
	return db.One(ctx, s.db, scanProposal, `SELECT `+proposalColumns+` FROM operator_proposal WHERE id = $1`, proposalID)
}

// pageProposals returns the proposals in a state at an instant, the newest first.
func (s *Service) pageProposals(ctx context.Context, state ProposalState, now time.Time, limit, offset int) ([]Proposal, int64, error) {
	const where = ` FROM operator_proposal
		WHERE $1 = '' OR $1 = (CASE WHEN state = 'PROPOSED' AND expires_at <= $2 THEN 'EXPIRED' ELSE state END)`
	return db.Page(ctx, s.db, "", scanProposal, `SELECT count(*)`+where,
		`SELECT `+proposalColumns+where+` ORDER BY id DESC LIMIT $3 OFFSET $4`, limit, offset, string(state), clock.Micros(now))
}

// decideProposal moves a proposal that waits for a second operator to another state.
func decideProposal(ctx context.Context, q db.Querier, p Proposal) (int64, error) {
	return q.Exec(ctx, `
		UPDATE operator_proposal SET state = $2, decided_by = $3, note = $4, decided_at = $5 WHERE id = $1 AND state = 'PROPOSED'`,
		p.ID, string(p.State), p.DecidedBy, p.Note, clock.Micros(p.DecidedAt))
}

// endProposalsOf ends the waiting proposals of an operator.
func endProposalsOf(ctx context.Context, q db.Querier, name, note string, at time.Time) error {
	_, err := q.Exec(ctx, `
		UPDATE operator_proposal SET state = 'DEAD', note = $2, decided_at = $3 WHERE proposed_by = $1 AND state = 'PROPOSED'`,
		name, note, clock.Micros(at))
	return err
}

const doneColumns = `company_id, proposal_id, position, done_at`

var doneActs = db.Declare[doneAct]("operator_act", db.Reads(doneColumns))

// doneAct is an act of a proposal that is done.
type doneAct struct {
	Company  string    `db:"company_id,key"`
	Proposal string    `db:"proposal_id,key"`
	Position int64     `db:"position,key"`
	At       time.Time `db:"done_at"`
}

// insertDone inserts the row of a done act without a ledger unit, and returns the number of rows.
func insertDone(ctx context.Context, q db.Querier, done db.Record) (int64, error) {
	return q.Exec(ctx, `INSERT INTO operator_act (`+doneColumns+`) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`, done.Values...)
}

// Done returns the times at which the acts of a proposal were done, by the positions of the acts. The
// rows may belong to a company that the proposal does not name.
func (s *Service) Done(ctx context.Context, p Proposal) (map[int64]time.Time, error) {
	done, err := db.All(ctx, s.db, doneActs.Scan, `
		SELECT `+doneColumns+` FROM operator_act WHERE proposal_id = $1`, p.ID)
	out := map[int64]time.Time{}
	for _, d := range done {
		out[d.Position] = d.At
	}
	return out, err
}

// proofs returns a hash, called proof, of each known master key, by the id of the key. The hash
// reveals nothing about the key.
func proofs(ctx context.Context, q db.Querier) (map[string]string, error) {
	return db.Map[string, string](ctx, q, `SELECT key_id, proof FROM operator_keyring`)
}

func insertProof(ctx context.Context, q db.Querier, keyID, proof string, at time.Time) error {
	_, err := q.Exec(ctx, `INSERT INTO operator_keyring (key_id, proof, seen_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
		keyID, proof, clock.Micros(at))
	return err
}
