package person

import (
	"context"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/ledger"
)

const (
	personColumns     = `company, id, name, role, state, created_at`
	credentialColumns = `company, id, person_id, kind, label, state, created_at, secret, step, used_at`
	linkColumns       = `digest, company, person_id, code, created_by, created_at, expires_at, used_at`
	sessionColumns    = `company, id, person_id, role, hash, began_at, proved_at, used_at, address, agent`
	settingColumns    = `company, person_id, kind, name, value, created_at`
)

// The MAC of a credential leaves out the sealed secret, which opens only in its own row.
var (
	people      = db.Declare[Person]("person", db.Reads(personColumns), db.Rights("name", "role", "state", "created_at"))
	credentials = db.Declare[Credential]("person_credential", db.Reads(credentialColumns),
		db.Rights("person_id", "kind", "label", "state", "created_at"))
	links = db.Declare[link]("person_link", db.Reads(linkColumns),
		db.Rights("company", "person_id", "code", "created_by", "created_at", "expires_at", "used_at"))
	sessions = db.Declare[Session]("person_session", db.Reads(sessionColumns))
	settings = db.Declare[Setting]("person_setting", db.Reads(settingColumns))
)

func (p Person) row() []any { return people.Record(p).Put("mac", p.mac).Values }

func (c Credential) row() []any { return credentials.Record(c).Put("mac", c.mac).Values }

func (l link) row() []any { return links.Record(l).Put("mac", l.mac).Values }

// isSigned reports whether a row has the right MAC.
func (s *Service) isSigned(t *db.Table, row []any, mac string) bool {
	signer := s.DB.Signer()
	return signer != nil && mac != "" && signer.Verify(db.Content(nil, t, row), mac)
}

// sign returns the MAC of a new row.
func (s *Service) sign(t *db.Table, row []any) (string, error) {
	if s.DB.Signer() == nil {
		return "", ledger.ErrNoSigner
	}
	return s.DB.Signer().MAC(db.Content(nil, t, row)), nil
}

// renew returns the MAC of a changed row. An altered row stays without a right MAC.
func (s *Service) renew(t *db.Table, before, after []any) (string, error) {
	if s.DB.Signer() == nil {
		return "", ledger.ErrNoSigner
	}
	mac, _ := db.Renew(s.DB.Signer(), t, before, after, nil)
	return mac, nil
}

func (s *Service) peopleOf(ctx context.Context, q db.Querier, company string) ([]Person, error) {
	return db.All(ctx, q, db.Fields[Person], `SELECT `+personColumns+`, mac FROM person WHERE company = $1 ORDER BY created_at, id`, company)
}

// lockPeople makes changes of a company's people wait for each other until the transaction ends.
func lockPeople(ctx context.Context, q db.Querier, company string) error {
	_, err := q.Exec(ctx, `UPDATE person SET state = state WHERE company = $1`, company)
	return err
}

func (s *Service) insertPerson(ctx context.Context, q db.Querier, p Person) (int64, error) {
	var err error
	if p.mac, err = s.sign(people.Table, p.row()); err != nil {
		return 0, err
	}
	return q.Exec(ctx, `INSERT INTO person (`+personColumns+`, mac) VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING`, p.row()...)
}

func (s *Service) updatePerson(ctx context.Context, q db.Querier, before, after Person) (int64, error) {
	mac, err := s.renew(people.Table, before.row(), after.row())
	if err != nil {
		return 0, err
	}
	return q.Exec(ctx, `UPDATE person SET role = $4, state = $5, mac = $6 WHERE company = $1 AND id = $2 AND mac = $3`,
		before.Company, before.ID, before.mac, after.Role, after.State, mac)
}

func (s *Service) credentialsOf(ctx context.Context, q db.Querier, p Person) ([]Credential, error) {
	return db.All(ctx, q, db.Fields[Credential], `SELECT `+credentialColumns+`, mac FROM person_credential
		WHERE company = $1 AND person_id = $2 ORDER BY created_at, id`, p.Company, p.ID)
}

func (s *Service) insertCredential(ctx context.Context, q db.Querier, c Credential) error {
	var err error
	if c.mac, err = s.sign(credentials.Table, c.row()); err != nil {
		return err
	}
	n, err := q.Exec(ctx, `INSERT INTO person_credential (`+credentialColumns+`, mac) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
		ON CONFLICT DO NOTHING`, c.row()...)
	if err == nil && n == 0 {
		err = errChanged
	}
	return err
}

func (s *Service) updateCredential(ctx context.Context, q db.Querier, before, after Credential) (int64, error) {
	mac, err := s.renew(credentials.Table, before.row(), after.row())
	if err != nil {
		return 0, err
	}
	return q.Exec(ctx, `UPDATE person_credential SET state = $4, secret = $5, mac = $6 WHERE company = $1 AND id = $2 AND mac = $3`,
		before.Company, before.ID, before.mac, after.State, after.secret, mac)
}

// useStep records that the code of a step was used, unless this step or a later one was used already.
func useStep(ctx context.Context, q db.Querier, c Credential, step int64, at time.Time) (int64, error) {
	return q.Exec(ctx, `UPDATE person_credential SET step = $3, used_at = $4 WHERE company = $1 AND id = $2 AND step < $3 AND state = 'ACTIVE'`,
		c.Company, c.ID, step, clock.Micros(at))
}

// usePasskey stores the present counter of a passkey, unless the row has changed since it was read, or the
// passkey was used in a ceremony that did not begin earlier.
func usePasskey(ctx context.Context, q db.Querier, c Credential, sealed string, begun int64, at time.Time) (int64, error) {
	return q.Exec(ctx, `
		UPDATE person_credential SET secret = $4, step = $5, used_at = $6
		WHERE company = $1 AND id = $2 AND secret = $3 AND step < $5 AND state = 'ACTIVE'`, c.Company, c.ID, c.secret, sealed, begun, clock.Micros(at))
}

func touch(ctx context.Context, q db.Querier, c Credential, at time.Time) error {
	_, err := q.Exec(ctx, `UPDATE person_credential SET used_at = $3 WHERE company = $1 AND id = $2`, c.Company, c.ID, clock.Micros(at))
	return err
}

func findLink(ctx context.Context, q db.Querier, digest string) (link, error) {
	return db.One(ctx, q, db.Fields[link], `SELECT `+linkColumns+`, mac FROM person_link WHERE digest = $1`, digest)
}

func (s *Service) insertLink(ctx context.Context, q db.Querier, l link) (int64, error) {
	var err error
	if l.mac, err = s.sign(links.Table, l.row()); err != nil {
		return 0, err
	}
	return q.Exec(ctx, `INSERT INTO person_link (`+linkColumns+`, mac) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING`, l.row()...)
}

func (s *Service) spendLink(ctx context.Context, q db.Querier, before, after link) (int64, error) {
	mac, err := s.renew(links.Table, before.row(), after.row())
	if err != nil {
		return 0, err
	}
	return q.Exec(ctx, `UPDATE person_link SET used_at = $2, mac = $3 WHERE digest = $1 AND used_at = 0`, before.Digest, clock.Micros(after.UsedAt), mac)
}

func insertSession(ctx context.Context, q db.Querier, x Session) error {
	_, err := q.Exec(ctx, `INSERT INTO person_session (`+sessionColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`, sessions.Record(x).Values...)
	return err
}

func findSession(ctx context.Context, q db.Querier, company, sessionID string) (Session, error) {
	return db.One(ctx, q, sessions.Scan, `SELECT `+sessionColumns+` FROM person_session WHERE company = $1 AND id = $2`, company, sessionID)
}

// sessionsIn returns the rows of some sessions.
func sessionsIn(ctx context.Context, q db.Querier, companies, ids []string) ([]Session, error) {
	return db.All(ctx, q, sessions.Scan, `SELECT `+sessionColumns+` FROM person_session WHERE company = ANY($1) AND id = ANY($2)`, companies, ids)
}

func sessionsOf(ctx context.Context, q db.Querier, p Person) ([]Session, error) {
	return db.All(ctx, q, sessions.Scan, `SELECT `+sessionColumns+` FROM person_session WHERE company = $1 AND person_id = $2 ORDER BY used_at DESC, id`, p.Company, p.ID)
}

func useSession(ctx context.Context, q db.Querier, x Session, at time.Time) error {
	_, err := q.Exec(ctx, `UPDATE person_session SET used_at = $3 WHERE company = $1 AND id = $2`, x.Company, x.ID, clock.Micros(at))
	return err
}

func proveSession(ctx context.Context, q db.Querier, before, after Session) (int64, error) {
	return q.Exec(ctx, `UPDATE person_session SET proved_at = $4, hash = $5 WHERE company = $1 AND id = $2 AND hash = $3`,
		before.Company, before.ID, before.hash, clock.Micros(after.ProvedAt), after.hash)
}

func removeSession(ctx context.Context, q db.Querier, company, personID, sessionID string) error {
	_, err := q.Exec(ctx, `DELETE FROM person_session WHERE company = $1 AND person_id = $2 AND id = $3`, company, personID, sessionID)
	return err
}

// endSessions ends all sessions of a person but one.
func endSessions(ctx context.Context, q db.Querier, company, personID, but string) error {
	_, err := q.Exec(ctx, `DELETE FROM person_session WHERE company = $1 AND person_id = $2 AND id <> $3`, company, personID, but)
	return err
}

// removeOver removes the sessions of a person that are over.
func removeOver(ctx context.Context, q db.Querier, p Person, idle, whole time.Time) error {
	_, err := q.Exec(ctx, `DELETE FROM person_session WHERE company = $1 AND person_id = $2 AND (used_at < $3 OR began_at < $4)`,
		p.Company, p.ID, clock.Micros(idle), clock.Micros(whole))
	return err
}

func settingsOf(ctx context.Context, q db.Querier, p Person, kind string) ([]Setting, error) {
	return db.All(ctx, q, settings.Scan, `SELECT `+settingColumns+` FROM person_setting
		WHERE company = $1 AND person_id = $2 AND kind = $3 ORDER BY name LIMIT $4`, p.Company, p.ID, kind, maxSettings)
}

// putSetting stores a setting in place of the one with its name.
func putSetting(ctx context.Context, q db.Querier, x Setting) error {
	_, err := q.Exec(ctx, `INSERT INTO person_setting (`+settingColumns+`) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (company, person_id, kind, name) DO UPDATE SET value = $5, created_at = $6`, settings.Record(x).Values...)
	return err
}

// addView stores a new view, unless the name is taken or the person has the most views.
func addView(ctx context.Context, q db.Querier, x Setting) (int64, error) {
	return q.Exec(ctx, `INSERT INTO person_setting (`+settingColumns+`)
		SELECT CAST($1 AS TEXT), CAST($2 AS TEXT), CAST($3 AS TEXT), CAST($4 AS TEXT), CAST($5 AS TEXT), CAST($6 AS BIGINT)
		WHERE (SELECT count(*) FROM person_setting WHERE company = $1 AND person_id = $2 AND kind = $3) < $7
		ON CONFLICT DO NOTHING`, append(settings.Record(x).Values, int64(MaxViews))...)
}

// renameSetting gives a setting another name, unless the person has used it.
func renameSetting(ctx context.Context, q db.Querier, p Person, kind, name, to string) (int64, error) {
	return q.Exec(ctx, `UPDATE person_setting SET name = $5 WHERE company = $1 AND person_id = $2 AND kind = $3 AND name = $4
		AND NOT EXISTS (SELECT 1 FROM person_setting AS x WHERE x.company = $1 AND x.person_id = $2 AND x.kind = $3 AND x.name = $5 AND x.name <> $4)`,
		p.Company, p.ID, kind, name, to)
}

func removeSetting(ctx context.Context, q db.Querier, p Person, kind, name string) (int64, error) {
	return q.Exec(ctx, `DELETE FROM person_setting WHERE company = $1 AND person_id = $2 AND kind = $3 AND name = $4`, p.Company, p.ID, kind, name)
}

// removeSettings removes all that a person has chosen.
func removeSettings(ctx context.Context, q db.Querier, company, personID string) error {
	_, err := q.Exec(ctx, `DELETE FROM person_setting WHERE company = $1 AND person_id = $2`, company, personID)
	return err
}
