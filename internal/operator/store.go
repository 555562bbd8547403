package operator

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/ledger"
)

const auditColumns = `company_id, id, operator, action, subject, created_at, details, leaf, mac`

var audit = db.Declare[auditRow]("operator_audit", db.Reads(auditColumns), db.Evidence())

// auditRow is a line of the audit log with its details as JSON.
type auditRow struct {
	Line
	Text json.RawMessage `db:"details"`
	Leaf int64           `db:"leaf"`
	MAC  string          `db:"mac"`
}

// insertLine inserts a line of the audit log that belongs to no company, without a ledger unit.
func (s *Service) insertLine(ctx context.Context, q db.Querier, line db.Record) error {
	line, err := ledger.Sign(ctx, q, s.db.Signer(), line)
	if err != nil {
		return err
	}
	_, err = q.Exec(ctx, `INSERT INTO operator_audit (`+auditColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`, line.Values...)
	return err
}

// A search of the audit log begins with the index of one filter, and compares the other filters row by
// row. Planners do not see which parameters are empty, so there are statements for each index.
const (
	auditCount = `SELECT count(*) FROM operator_audit WHERE `
	auditLines = `SELECT ` + auditColumns + ` FROM operator_audit WHERE `

	ofOperator = `operator = $1 AND `
	ofAction   = `action = $2 AND `
	ofCompany  = `(company_id = $3 OR company_id = '' AND subject = $3) AND `
	matching   = `created_at >= $4 AND created_at < $5 AND ($1 = '' OR operator = $1) AND ($2 = '' OR action = $2)
		AND ($3 = '' OR company_id = $3 OR company_id = '' AND subject = $3)`

	newestFirst = ` ORDER BY created_at DESC, id DESC LIMIT $6 OFFSET $7`
	oldestFirst = ` AND (created_at, id) > ($6, $7) ORDER BY created_at, id LIMIT $8`

	// These belong to the lines after a place, the newest first. The place is before the end of the period. The lines of a
	// company are in two ranges of indexes, with a statement for each.
	newestAfter = `($1 = '' OR operator = $1) AND ($2 = '' OR action = $2) AND created_at >= $3 AND (created_at, id) < ($4, $5)
		ORDER BY created_at DESC, id DESC LIMIT $6`
	inCompany    = `company_id = $7 AND `
	aboutCompany = `company_id = '' AND subject = $7 AND `
)

// auditSearch has the statements that begin with one index.
type auditSearch struct {
	count, page, walk string
	after             []string
}

// auditSearches has the statements for each first filter. The last ones begin with the period.
var auditSearches = [...]auditSearch{
	{auditCount + ofCompany + matching, auditLines + ofCompany + matching + newestFirst, auditLines + ofCompany + matching + oldestFirst, []string{auditLines + inCompany + newestAfter, auditLines + aboutCompany + newestAfter}},
	{auditCount + ofOperator + matching, auditLines + ofOperator + matching + newestFirst, auditLines + ofOperator + matching + oldestFirst, []string{auditLines + ofOperator + newestAfter}},
	{auditCount + ofAction + matching, auditLines + ofAction + matching + newestFirst, auditLines + ofAction + matching + oldestFirst, []string{auditLines + ofAction + newestAfter}},
	{auditCount + matching, auditLines + matching + newestFirst, auditLines + matching + oldestFirst, []string{auditLines + newestAfter}},
}

// linesSince returns the lines about a subject since an instant, the oldest first.
func (s *Service) linesSince(ctx context.Context, company, subject string, since time.Time) ([]auditRow, error) {
	return db.All(ctx, s.db, audit.Scan, `SELECT `+auditColumns+` FROM operator_audit
		WHERE company_id = $1 AND subject = $2 AND created_at >= $3 ORDER BY created_at`, company, subject, clock.Micros(since))
}

// SearchAudit returns a page of the lines that pass the filter, the newest first, and the total count.
func (s *Service) SearchAudit(ctx context.Context, f AuditFilter, limit, offset int) ([]Line, int64, error) {
	search := f.search()
	return db.Page(ctx, s.db, "", scanLine, search.count, search.page, limit, offset, f.args()...)
}

// adoptions returns the numbered lines of the audit log that show that a company's rows are signed.
func adoptions(ctx context.Context, q db.Querier, company string) ([]db.Record, error) {
	return db.All(ctx, q, func(r db.Scanner) (db.Record, error) {
		row, err := audit.Scan(r)
		return audit.Record(row), err
	}, `SELECT `+auditColumns+` FROM operator_audit
		WHERE company_id = $1 AND action IN ('company.create', 'evidence.adopt', 'rights.adopt') AND leaf > 0`, company)
}

// These stand in the row of API access, which accessLines returns like a line of the audit log.
const (
	doorRow       = "door"
	automatically = "1"
)

// doorSQL selects the row of API access, if it is there, and lines about API access.
const doorSQL = `SELECT '' AS company_id, '' AS id, CAST(automatic AS TEXT) AS operator, 'door' AS action, reason AS subject, closed_at AS created_at,
			'{}' AS details, -1 AS leaf, '' AS mac FROM operator_door WHERE id = 1
		UNION ALL SELECT ` + auditColumns + ` FROM operator_audit
		WHERE action IN ('door.close', 'door.open') AND `

// accessLines returns the row of API access, if it is there, and the lines about API access in the order of
// their numbers. The expression with company_id keeps SQLite from reading all lines of no company by the index
// of their numbers.
func accessLines(ctx context.Context, q db.Querier, routed bool) ([]auditRow, error) {
	if routed {
		return routedAccessLines(ctx, q)
	}
	return db.All(ctx, q, audit.Scan, doorSQL+`company_id || '' = '' ORDER BY leaf`)
}

// routedAccessLines returns what accessLines returns, from one node. A statement that asks several nodes sees an act
// at one of them, and not yet at another one.
func routedAccessLines(ctx context.Context, q db.Querier) ([]auditRow, error) {
	lines, err := db.All(ctx, q, audit.Scan, doorSQL+`company_id = ''`) // without an order, so the index of actions is the cheapest
	slices.SortFunc(lines, func(a, b auditRow) int { return cmp.Compare(a.Leaf, b.Leaf) })
	return lines, err
}

func closeAccess(ctx context.Context, q db.Querier, reason string, at time.Time, automatic bool) error {
	_, err := q.Exec(ctx, `
		INSERT INTO operator_door (id, reason, closed_at, automatic) VALUES (1, $1, $2, $3)
		ON CONFLICT (id) DO UPDATE SET reason = excluded.reason,
			automatic = CASE WHEN excluded.automatic = 1 THEN 1 ELSE operator_door.automatic END`, reason, clock.Micros(at), db.Flag(automatic))
	return err
}

// lockAccess makes changes of the row of API access wait until the transaction ends. It returns the number of rows.
func lockAccess(ctx context.Context, q db.Querier) (int64, error) {
	return q.Exec(ctx, `UPDATE operator_door SET reason = reason WHERE id = 1`)
}

func openAccess(ctx context.Context, q db.Querier) (int64, error) {
	return q.Exec(ctx, `DELETE FROM operator_door WHERE id = 1`)
}

const proposalColumns = `id, company, state, proposed_by, decided_by, note, created_at, expires_at, decided_at, act_count, acts`

// allProposals selects the proposals. An approved proposal with an act that is not done is unfinished. Citus refuses
// a subquery for each row of a table with copies, so the acts are joined.
const allProposals = `FROM (SELECT id, company, proposed_by, decided_by, note, created_at, expires_at, decided_at, act_count, acts,
		CASE WHEN state = 'APPROVED' AND act_count > coalesce(done.acts_done, 0) THEN 'UNFINISHED' ELSE state END AS state
		FROM operator_proposal LEFT JOIN (
			SELECT proposal_id, count(*) AS acts_done FROM operator_act WHERE done_at > 0 GROUP BY proposal_id
		) AS done ON done.proposal_id = id) AS proposal
	WHERE `

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

// insertProposal returns the number of rows. It is 0 if there is a proposal with this ID.
func insertProposal(ctx context.Context, q db.Querier, p Proposal) (int64, error) {
	acts, err := json.Marshal(p.Acts)
	if err != nil {
		return 0, err
	}
	return q.Exec(ctx, `INSERT INTO operator_proposal (`+proposalColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
		ON CONFLICT (id) DO NOTHING`,
		proposals.Record(proposalRow{p, acts}).Values...)
}

func (s *Service) findProposal(ctx context.Context, proposalID string) (Proposal, error) {
	return db.One(ctx, s.db, scanProposal, `SELECT id, company,
		CASE WHEN state = 'APPROVED' AND act_count > (SELECT count(*) FROM operator_act WHERE proposal_id = $1 AND done_at > 0)
			THEN 'UNFINISHED' ELSE state END, proposed_by, decided_by, note, created_at, expires_at, decided_at, act_count, acts
		FROM operator_proposal WHERE id = $1`, proposalID)
}

// pageProposals returns the proposals in a state at an instant, the newest first. The state PROPOSED stands
// for all that wait for an operator.
func (s *Service) pageProposals(ctx context.Context, state ProposalState, now time.Time, limit, offset int) ([]Proposal, int64, error) {
	const where = allProposals + `$1 = '' OR $1 = (CASE WHEN state IN ('PROPOSED', 'UNFINISHED') AND expires_at <= $2 THEN 'EXPIRED' ELSE state END)
		OR $1 = 'PROPOSED' AND state = 'UNFINISHED' AND expires_at > $2`
	return db.Page(ctx, s.db, "", scanProposal, `SELECT count(*) `+where,
		`SELECT `+proposalColumns+` `+where+` ORDER BY created_at DESC, id DESC LIMIT $3 OFFSET $4`, limit, offset, string(state), clock.Micros(now))
}

// storedAfter returns at most limit proposals after a place, created since an instant, which are stored in one of two states.
func (s *Service) storedAfter(ctx context.Context, at db.Place, since time.Time, states [2]ProposalState, limit int) ([]Proposal, error) {
	return db.All(ctx, s.db, scanProposal, `SELECT `+proposalColumns+` FROM operator_proposal
		WHERE (created_at, id) < ($1, $2) AND created_at >= $3 AND ($4 = '' OR state = $4 OR state = $5)
		ORDER BY created_at DESC, id DESC LIMIT $6`, at.At, at.ID, clock.Micros(since), string(states[0]), string(states[1]), limit)
}

// doneCounts returns how many acts of some proposals are done. A proposal without one is not in the map.
func (s *Service) doneCounts(ctx context.Context, proposals []string) (map[string]int64, error) {
	return db.Map[string, int64](ctx, s.db,
		`SELECT proposal_id, count(*) FROM operator_act WHERE proposal_id = ANY($1) AND done_at > 0 GROUP BY proposal_id`, proposals)
}

// decideProposal moves a proposal to another state. The proposal waits for the decision of a second
// operator, or if begun is true, it is approved.
func decideProposal(ctx context.Context, q db.Querier, p Proposal, begun bool) (int64, error) {
	from := Proposed
	if begun {
		from = Approved
	}
	return q.Exec(ctx, `
		UPDATE operator_proposal SET state = $2, decided_by = $3, note = $4, decided_at = $5 WHERE id = $1 AND state = $6`,
		p.ID, string(p.State), p.DecidedBy, p.Note, clock.Micros(p.DecidedAt), string(from))
}

// endProposalsOf ends the waiting proposals of an operator.
func endProposalsOf(ctx context.Context, q db.Querier, name, note string, at time.Time) error {
	_, err := q.Exec(ctx, `
		UPDATE operator_proposal SET state = 'DEAD', note = $2, decided_at = $3 WHERE proposed_by = $1 AND state = 'PROPOSED'`,
		name, note, clock.Micros(at))
	return err
}

const doneColumns = `company_id, proposal_id, position, done_at, acts`

var doneActs = db.Declare[doneAct]("operator_act", db.Reads(doneColumns))

// doneAct is an act of a proposal that is done, or that was ended.
type doneAct struct {
	Company  string    `db:"company_id,key"`
	Proposal string    `db:"proposal_id,key"`
	Position int64     `db:"position,key"`
	At       time.Time `db:"done_at"` // zero for an act that was ended before it was done
	Acts     int64     `db:"acts"`    // the number of the company's acts right after this act; 0 for an act of no company
}

// insertDone inserts the row of a done act without a ledger unit, and returns the number of rows.
func insertDone(ctx context.Context, q db.Querier, done db.Record) (int64, error) {
	return q.Exec(ctx, `INSERT INTO operator_act (`+doneColumns+`) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING`, done.Values...)
}

// Done returns the times at which the acts of a proposal were done, by the positions of the acts.
func (s *Service) Done(ctx context.Context, p Proposal) (map[int64]time.Time, error) {
	return doneTimes(ctx, s.db, p.ID)
}

func doneTimes(ctx context.Context, q db.Querier, proposalID string) (map[int64]time.Time, error) {
	done, err := findDone(ctx, q, proposalID)
	out := map[int64]time.Time{}
	for _, d := range done {
		out[d.Position] = d.At
	}
	return out, err
}

// findDone returns the done acts of a proposal. The rows may belong to a company that the proposal does not
// name.
func findDone(ctx context.Context, q db.Querier, proposalID string) ([]doneAct, error) {
	return db.All(ctx, q, doneActs.Scan, `
		SELECT `+doneColumns+` FROM operator_act WHERE proposal_id = $1 AND done_at > 0`, proposalID)
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

const keyColumns = `id, name, hash, state, created_at, role, expires_at, used_at`

// The MAC leaves out used_at, which gives no right.
var keyTable = db.Declare[Key]("operator_key", db.Reads(keyColumns),
	db.Rights("name", "hash", "state", "created_at", "role", "expires_at"))

// row returns the row of a key, with its MAC.
func (k Key) row() []any { return keyTable.Record(k).Put("mac", k.mac).Values }

// Keys returns all keys, the oldest first.
func (s *Service) Keys(ctx context.Context) ([]Key, error) { return keysIn(ctx, s.db) }

func keysIn(ctx context.Context, q db.Querier) ([]Key, error) {
	return db.All(ctx, q, db.Fields[Key], `SELECT `+keyColumns+`, mac FROM operator_key ORDER BY created_at, id`)
}

// lockAdmins makes changes of the admins' rows wait until the transaction ends.
func lockAdmins(ctx context.Context, q db.Querier) error {
	_, err := db.All(ctx, q, db.Value[string], `SELECT id FROM operator_key WHERE state = $1 AND role = $2 ORDER BY id FOR UPDATE`, active, string(Admin))
	return err
}

// insertKey inserts a key, and returns the number of rows. It inserts no row if the name has a
// working key.
func (s *Service) insertKey(ctx context.Context, q db.Querier, k Key) (int64, error) {
	signer := s.db.Signer()
	if signer == nil {
		return 0, ledger.ErrNoSigner
	}
	k.mac = signer.MAC(db.Content(nil, keyTable.Table, k.row()))
	return q.Exec(ctx, `
		INSERT INTO operator_key (`+keyColumns+`, mac) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
		ON CONFLICT DO NOTHING`, k.row()...)
}

// changeKey changes the working key of a person, and signs its row again. It returns the number of
// rows.
func (s *Service) changeKey(ctx context.Context, q db.Querier, name string, change func(k *Key)) (int64, error) {
	before, err := db.One(ctx, q, db.Fields[Key], `SELECT `+keyColumns+`, mac FROM operator_key WHERE name = $1 AND state = $2`, name, active)
	if err != nil {
		_, err = db.OrZero(before, err)
		return 0, err
	}
	after := before
	change(&after)
	n, err := s.replaceKey(ctx, q, before, after)
	if n == 0 && err == nil {
		err = fault.Newf(fault.Conflict, "The key of %s has just changed: try again", name)
	}
	return n, err
}

// renewKey stores that a key is used now, and replaces its hash with a newer hash of the same key.
func (s *Service) renewKey(ctx context.Context, k Key, hash string, now time.Time) error {
	used := k
	used.hash, used.UsedAt = hash, now
	_, err := s.replaceKey(ctx, s.db, k, used)
	return err
}

// replaceKey writes a key with a new MAC over a row that is unchanged since it was read. It returns the
// number of rows.
func (s *Service) replaceKey(ctx context.Context, q db.Querier, before, after Key) (int64, error) {
	signer := s.db.Signer()
	if signer == nil {
		return 0, ledger.ErrNoSigner
	}
	mac, _ := db.Renew(signer, keyTable.Table, before.row(), after.row(), nil)
	return q.Exec(ctx, `
		UPDATE operator_key SET hash = $6, state = $7, role = $8, used_at = $9, mac = $10
		WHERE id = $1 AND hash = $2 AND state = $3 AND role = $4 AND mac = $5`,
		before.ID, before.hash, before.State, string(before.Role), before.mac,
		after.hash, after.State, string(after.Role), clock.Micros(after.UsedAt), mac)
}

// adoptKeys signs the keys that programs of earlier schemas wrote, and returns their number.
func (s *Service) adoptKeys(ctx context.Context) (n int, err error) {
	keys, err := s.Keys(ctx)
	for _, k := range keys {
		if err != nil || ledger.Signed(s.db.Signer(), keyTable.Table, k.row()) {
			continue
		}
		var changed int64
		changed, err = s.db.Exec(ctx, `UPDATE operator_key SET mac = $6 WHERE id = $1 AND hash = $2 AND state = $3 AND role = $4 AND mac = $5`,
			k.ID, k.hash, k.State, string(k.Role), k.mac, s.db.Signer().MAC(db.Content(nil, keyTable.Table, k.row())))
		if n += int(changed); changed == 0 && err == nil {
			err = fault.Newf(fault.Conflict, "the key of %s has just changed", k.Name)
		}
	}
	return n, err
}
