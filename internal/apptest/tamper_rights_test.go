package apptest_test

import (
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/payout"
	"github.com/kobo-waas/kobo/internal/person"
	"github.com/kobo-waas/kobo/internal/quota"
	"github.com/kobo-waas/kobo/internal/secret"
)

// These alterations change rows that hold rights. A MAC finds a changed or an added row. The sum of all
// MACs, and the audit log, find a deleted row and an earlier row with its earlier MAC.

const (
	aKey      = `(SELECT min(id) FROM company_api_key WHERE company_id = $1 AND state = 'ACTIVE')`
	noSuchMAC = "expected a row with the right MAC"
	noSuchSum = "expected the sum of their MACs"
)

var rightsTampers = []alteration{
	{"revoked API key revived", "rights: company_api_key", []string{`UPDATE company_api_key SET state = 'ACTIVE' WHERE company_id = $1 AND state = 'REVOKED'`}},
	{"revoked API key put back with its MAC", "API key", []string{putBack("company_api_key", "id", "state, mac")}},
	{"revoked API key put back with its MAC and without its audit line", noSuchSum, []string{
		putBack("company_api_key", "id", "state, mac"), `DELETE FROM operator_audit WHERE company_id = $1 AND action = 'company.key.revoke'`,
	}},
	{"API key forged", "rights: company_api_key forged", []string{`INSERT INTO company_api_key (company_id, id, hash, state, created_at, expires_at, mac)
		SELECT company_id, 'forged', hash, state, created_at, 0, mac FROM company_api_key WHERE company_id = $1 AND id = ` + aKey}},
	{"API key forged without a MAC", "rights: company_api_key forged", []string{`INSERT INTO company_api_key (company_id, id, hash, state, created_at, expires_at)
		SELECT company_id, 'forged', hash, state, created_at, 0 FROM company_api_key WHERE company_id = $1 AND id = ` + aKey}},
	{"API key with the hash of another", "rights: company_api_key", []string{`UPDATE company_api_key SET hash = (SELECT k.hash FROM company_api_key AS k
		WHERE k.company_id = $1 AND k.state = 'REVOKED') WHERE company_id = $1 AND id = ` + aKey}},
	{"expiry of an API key extended", "rights: company_api_key", []string{`UPDATE company_api_key SET expires_at = 0 WHERE company_id = $1 AND expires_at > 0`}},
	{"API key deleted", noSuchSum, []string{`DELETE FROM company_api_key WHERE company_id = $1 AND state = 'REVOKED'`}},
	{"PIN unlocked", "rights: company_pin", []string{`UPDATE company_pin SET state = 'SET', failures = 0 WHERE company_id = $1 AND state = 'LOCKED'`}},
	{"PIN put back with its MAC", "PIN: company_pin", []string{putBack("company_pin", "company_id", "state, failures, hash, mac")}},
	{"wrong tries of the PIN forgotten", "rights: company_pin", []string{`UPDATE company_pin SET failures = 0 WHERE company_id = $1 AND failures > 0`}},
	{"PIN replaced by another company's", "rights: company_pin", []string{`UPDATE company_pin SET hash = hash || '0' WHERE company_id = $1`}},
	{"used token opened", "rights: company_token", []string{`UPDATE company_token SET state = 'OPEN' WHERE company_id = $1 AND state = 'USED'`}},
	{"used token put back with its MAC", "token: ", []string{putBack("company_token", "id", "state, mac")}},
	{"token prolonged", "rights: company_token", []string{`UPDATE company_token SET expires_at = expires_at + 1 WHERE company_id = $1`}},
	{"KYB approved by hand", "rights: company:", []string{`UPDATE company SET kyb_status = 'APPROVED' WHERE company_id = $1`}},
	{"floor lowered, found by its MAC", "rights: ledger_account", []string{`UPDATE ledger_account SET floor_kobo = -1000000 WHERE company_id = $1 AND id = ` + wallet}},
	{"counter of credentials turned back", "rights: ledger_counter company/credentials", []string{`UPDATE ledger_counter SET value = value - 1 WHERE company_id = $1 AND name = 'company/credentials'`}},
	{"counter of credentials put back with its MAC", noSuchSum, []string{putBack("ledger_counter", "name", "value, mac")}},
	{"counter of credentials deleted", noSuchSum, []string{`DELETE FROM ledger_counter WHERE company_id = $1 AND name = 'company/credentials'`}},
	{"success that is kept", "rights: idempotency_key", []string{`UPDATE idempotency_key SET body = replace(body, '"message":"', '"message":"!') WHERE company_id = $1 AND value = 'escaped'`}},
	{"subject of a kept success", "rights: idempotency_key", []string{`UPDATE idempotency_key SET subject = '' WHERE company_id = $1 AND value = 'unknown'`}},
	{"kept success made a running request", "rights: idempotency_key", []string{`UPDATE idempotency_key SET state = 'RUNNING' WHERE company_id = $1 AND value = 'unknown'`}},
	{"kept answers of a month deleted", noSuchSum, []string{`DELETE FROM idempotency_key WHERE company_id = $1`}},
	{"case about money in suspense deleted", "house: rights: all rows", []string{
		`DELETE FROM operation_case WHERE company_id = 'house' AND $1 <> '' AND id = (SELECT max(id) FROM operation_case WHERE company_id = 'house')`,
	}},
	{"case changed", "rights: operation_case", []string{`UPDATE operation_case SET detail = '' WHERE company_id = $1 AND state = 'OPEN'`}},
	{"case resolved by hand", "rights: operation_case", []string{`UPDATE operation_case SET state = 'RESOLVED', resolved_by = 'local:eve' WHERE company_id = $1 AND reason = 'CONTRADICTION'`}},
	{"MAC of a case removed", noSuchMAC, []string{`UPDATE operation_case SET mac = '' WHERE company_id = $1 AND state = 'OPEN'`}},
	{"sum of the rights removed", noSuchSum, []string{`UPDATE ledger_head SET rights = '' WHERE company_id = $1`}},
	{"sum of the rights changed", noSuchSum, []string{`UPDATE ledger_head SET rights = CASE substr(rights, 1, 1) WHEN '0' THEN '1' ELSE '0' END || substr(rights, 2) WHERE company_id = $1`}},
	{"all rights made unsigned", noSuchMAC, []string{
		`UPDATE company SET mac = '' WHERE company_id = $1`, `UPDATE company_api_key SET mac = '' WHERE company_id = $1`,
		`UPDATE ledger_head SET rights = '' WHERE company_id = $1`,
	}},

	{"payout limit raised", "terms: payout.limit 0", []string{`UPDATE payout_limit SET amount_kobo = 0, payouts = 0 WHERE company_id = $1`}},
	{"payout limit removed", "500.00 and 5 payouts, as the audit log says", []string{`DELETE FROM payout_limit WHERE company_id = $1 AND payouts = 5`}},
	{"payout limit added", "terms: payout.limit 0", []string{`INSERT INTO payout_limit (company_id, settlement_id, version, amount_kobo, payouts, created_at)
		SELECT company_id, settlement_id, 'z', 0, 0, created_at FROM payout_limit WHERE company_id = $1 AND payouts = 5`}},
	{"earlier payout limit made the newest", "terms: payout.limit 0", []string{`UPDATE payout_limit SET version = 'z' WHERE company_id = $1 AND payouts = 10`}},
	{"payout limit of a settlement account made the company's", "terms: payout.limit 0", []string{`UPDATE payout_limit SET settlement_id = settlement_id + 1 WHERE company_id = $1 AND payouts = 5`}},
	{"payout fee lowered", "terms: payout.fees", []string{`UPDATE payout_fee SET flat_kobo = 0 WHERE company_id = $1`}},
	{"band of the payout fees removed", "terms: payout.fees", []string{`DELETE FROM payout_fee WHERE company_id = $1 AND from_kobo > 0`}},
	{"payout fees removed", "no such row", []string{`DELETE FROM payout_fee WHERE company_id = $1`}},
	{"earlier payout fees made the newest", "terms: payout.fees z", []string{`UPDATE payout_fee SET version = 'z' WHERE company_id = $1 AND version = (
		SELECT min(version) FROM payout_fee WHERE company_id = $1)`}},
	{"quota raised", "terms: company.quota otp", []string{`UPDATE quota SET most = 0 WHERE company_id = $1`}},
	{"quota of another kind", "terms: company.quota virtual-account", []string{`UPDATE quota SET kind = 'virtual-account' WHERE company_id = $1`}},
	{"quota removed", "terms: company.quota otp", []string{`DELETE FROM quota WHERE company_id = $1`}},
	{"audit line of a payout limit deleted too", missing, []string{
		`DELETE FROM payout_limit WHERE company_id = $1 AND payouts = 5`,
		`DELETE FROM operator_audit WHERE company_id = $1 AND action = 'payout.limit' AND strpos(details, '"payouts":"5"') > 0`,
	}},
	{"API access opened", "expected closed, as the audit log says: an old copy", []string{`DELETE FROM operator_door WHERE $1 <> ''`}},
	{"API access opened by one operator", "two operators open it", []string{`UPDATE operator_door SET automatic = 0 WHERE $1 <> ''`}},
	{"reason of closed API access changed", "expected the reason an old copy", []string{`UPDATE operator_door SET reason = 'nothing' WHERE $1 <> ''`}},
	{"line that closed API access deleted with the row", missing, []string{`DELETE FROM operator_audit WHERE ` + aClosing, noDoor}},
	{"all lines about API access deleted with the row", missing, []string{`DELETE FROM operator_audit WHERE ` + aDoorLine, noDoor}},
	{"line that opened API access deleted", missing, []string{`DELETE FROM operator_audit WHERE ` + anOpening}},
	{"reason of closed API access changed in the line and the row", noSuchMAC, []string{
		`UPDATE operator_audit SET details = replace(details, 'an old copy', 'nothing') WHERE ` + aClosing,
		`UPDATE operator_door SET reason = 'nothing' WHERE $1 <> ''`,
	}},
	{"line that closed API access turned into an opening", noSuchMAC, []string{`UPDATE operator_audit SET action = 'door.open' WHERE ` + aClosing, noDoor}},
	{"operator who closed API access", noSuchMAC, []string{`UPDATE operator_audit SET operator = 'local:eve' WHERE ` + aClosing}},
	{"instant of the opening of API access", noSuchMAC, []string{`UPDATE operator_audit SET created_at = created_at * 2 WHERE ` + anOpening, noDoor}},
	{"opening of API access moved behind the closing", noSuchMAC, []string{`UPDATE operator_audit SET leaf = 1000000 WHERE ` + anOpening, noDoor}},
	{"opening of API access moved to the end of the numbers", noSuchMAC, []string{
		`UPDATE operator_audit SET leaf = 1 + (SELECT max(leaf) FROM operator_audit WHERE company_id = '') WHERE ` + anOpening, moreLines, noDoor,
	}},
	{"opening of API access invented", "operator_audit forged: " + noSuchMAC, []string{
		forgedOpening + `1 + (SELECT max(leaf) FROM operator_audit WHERE company_id = ''), mac` + ofOpening, moreLines, noDoor,
	}},
	{"opening of API access doubled under its number", "operator_audit forged: " + noSuchMAC, []string{forgedOpening + `leaf, mac` + ofOpening, noDoor}},
	{"opening of API access invented as a line of an earlier program", "operator_audit forged: expected a row with a number and a MAC", []string{
		forgedOpening + `0, ''` + ofOpening, noDoor,
	}},
	{"closing of API access invented", "operator_audit forged: " + noSuchMAC, []string{
		`INSERT INTO operator_audit (company_id, id, operator, action, subject, created_at, details, leaf, mac)
			SELECT company_id, 'forged', operator, action, subject, created_at, details, leaf + 1000000, mac FROM operator_audit WHERE ` + aClosing,
	}},
	{"line that opened API access made a company's", "right MAC", []string{`UPDATE operator_audit SET company_id = $1 WHERE ` + anOpening}},
	{"numbers of an opening and a closing of API access exchanged", noSuchMAC, []string{
		`UPDATE operator_audit SET leaf = (SELECT min(leaf) + max(leaf) FROM operator_audit WHERE ` + aDoorLine + `) - leaf WHERE ` + aDoorLine, noDoor,
	}},
	{"line about API access made unsigned", "expected a row with a number and a MAC", []string{`UPDATE operator_audit SET leaf = 0, mac = '' WHERE ` + aClosing}},

	{"operator's key copied", "rights: operator_key copy", []string{`INSERT INTO operator_key (id, name, hash, state, created_at, role, expires_at, used_at, mac)
		SELECT 'copy', 'eve', hash, state, created_at, role, expires_at, used_at, mac FROM operator_key WHERE name = 'bob' AND $1 <> ''`}},
	{"role of an operator raised", "operator key", []string{`UPDATE operator_key SET role = 'admin' WHERE name = 'bob' AND $1 <> ''`}},
	{"operator's key extended", "operator key", []string{`UPDATE operator_key SET expires_at = expires_at + 1000000 WHERE name = 'bob' AND $1 <> ''`}},
	{"operator's key with another hash", "rights: operator_key", []string{`UPDATE operator_key SET hash = hash || '0' WHERE name = 'bob' AND $1 <> ''`}},
	{"revoked operator's key revived", "rights: operator_key", []string{`UPDATE operator_key SET state = 'ACTIVE' WHERE name = 'ada' AND $1 <> ''`}},
	{"operator's key put back with its MAC", "expected a revoked key", []string{`UPDATE operator_key SET state = 'ACTIVE', hash = e.hash, mac = e.mac
		FROM earlier_operator_key AS e WHERE e.id = operator_key.id AND operator_key.name = 'ada' AND $1 <> ''`}},

	{"person of a company made the owner", "rights: person", []string{`UPDATE person SET role = 'owner' WHERE name = 'vera' AND $1 <> ''`}},
	{"ended person put back with the MAC", "expected a person whose access has ended", []string{`UPDATE person SET state = e.state, mac = e.mac
		FROM earlier_person AS e WHERE e.id = person.id AND person.name = 'olu' AND $1 <> ''`}},
	{"password moved to another operator", "rights: person_credential", []string{`UPDATE person_credential SET person_id = 'another' WHERE state = 'ACTIVE' AND $1 <> ''`}},
	{"removed password put back with its MAC", "expected a removed credential", []string{`DELETE FROM person_credential WHERE state = 'ACTIVE' AND $1 <> ''`, `UPDATE person_credential SET state = e.state, secret = e.secret, mac = e.mac
		FROM earlier_person_credential AS e WHERE e.id = person_credential.id AND person_credential.state = 'REMOVED' AND $1 <> ''`}},
	{"link with a longer life", "rights: person_link", []string{`UPDATE person_link SET expires_at = expires_at + 1000000 WHERE $1 <> ''`}},
}

// These SQL expressions name lines about API access, and what else a forger of them changes.
const (
	aDoorLine = `company_id = '' AND action IN ('door.close', 'door.open') AND $1 <> ''`
	aClosing  = aDoorLine + ` AND leaf = (SELECT max(leaf) FROM operator_audit WHERE company_id = '' AND action = 'door.close')`
	anOpening = aDoorLine + ` AND leaf = (SELECT max(leaf) FROM operator_audit WHERE company_id = '' AND action = 'door.open')`
	noDoor    = `DELETE FROM operator_door WHERE $1 <> ''`
	moreLines = `UPDATE ledger_counter SET value = value + 1 WHERE company_id = '' AND name = 'leaf' AND $1 <> ''`

	forgedOpening = `INSERT INTO operator_audit (company_id, id, operator, action, subject, created_at, details, leaf, mac)
		SELECT company_id, 'forged', operator, action, subject, created_at, details, `
	ofOpening = ` FROM operator_audit WHERE ` + anOpening
)

// putBack returns an SQL statement that puts columns of a row back to what they were before fillRights
// changed them.
func putBack(table, key, columns string) string {
	return `UPDATE ` + table + ` SET (` + columns + `) = (SELECT ` + columns + ` FROM earlier_` + table + ` AS e
		WHERE e.company_id = $1 AND e.` + key + ` = ` + table + `.` + key + `)
		WHERE company_id = $1 AND ` + key + ` IN (SELECT ` + key + ` FROM earlier_` + table + ` WHERE company_id = $1)`
}

// fillRights changes rights of every kind: it revokes API keys and operators' keys, uses a token, and
// locks the PIN. The tables earlier_… are copies of the rows before these changes.
func fillRights(t *testing.T, p *apptest.Program) {
	t.Helper()
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	setPIN := func() { must(p.App.Companies.SetPIN(ctx, tester, p.Reference, secret.NewText("4321"))) }
	setPIN()
	_, _, err := p.App.Companies.IssueKey(ctx, tester, p.Reference, p.App.Clock.Now().AddDate(1, 0, 0))
	must(err)
	old, _, err := p.App.Companies.IssueKey(ctx, tester, p.Reference, p.App.Clock.Now().AddDate(1, 0, 0))
	must(err)
	token, err := p.App.Companies.IssueKeyToken(ctx, tester, p.Reference, old.ExpiresAt)
	must(err)
	for name, role := range map[string]operator.Role{"ada": operator.Admin, "bob": operator.Support} {
		_, digest := operator.NewKey()
		_, err := p.App.Operators.Add(ctx, tester, name, role, digest)
		must(err)
	}
	olu, bob := fillPeople(t, p)
	for _, table := range []string{"company_api_key", "company_pin", "company_token", "ledger_counter", "operator_key", "person", "person_credential"} {
		_, err := p.App.DB.Exec(ctx, `CREATE TABLE earlier_`+table+` AS SELECT * FROM `+table)
		must(err)
	}
	setPIN()
	for range 5 {
		if err := p.App.Companies.CheckPIN(ctx, p.Reference, "9999"); !fault.Is(err, fault.Refused) {
			t.Fatal(err)
		}
	}
	must(p.App.Companies.RevokeKey(ctx, tester, p.Reference, old.ID))
	_, _, err = p.App.Companies.ClaimKey(ctx, p.Reference, token.Text.Reveal())
	must(err)
	must(p.App.Operators.RevokeKey(ctx, tester, "ada"))
	_, err = p.App.People.End(ctx, tester, p.Reference, olu.ID)
	must(err)
	setPassword(t, p, bob) // the earlier one is removed
	_, err = p.App.Operators.Adopt(ctx, p.App.Book, tester, "", func(int) {})
	must(err)
	for _, l := range []payout.Limit{{Amount: 100_000, Payouts: 10}, {Amount: 50_000, Payouts: 5}} {
		must(p.App.Payouts.SetLimit(ctx, tester, p.Reference, 0, l))
	}
	for _, flat := range []money.Kobo{1000, 2500} {
		must(p.App.Payouts.SetFees(ctx, tester, p.Reference, payout.Schedule{{Flat: flat}, {From: 500_000, Flat: flat, BasisPoints: 50, Cap: 9000}}))
	}
	must(p.App.Quotas.Set(ctx, tester, p.Reference, quota.OTP, 7))
	must(p.App.Operators.CloseAccess(ctx, tester, "maintenance"))
	must(p.App.Operators.OpenAccess(ctx, tester))
	must(p.App.Operators.CloseRestored(ctx, tester, "a restore"))
	must(p.App.Operators.CloseAccess(ctx, tester, "an old copy"))
	_, err = p.App.Companies.SetKYB(ctx, tester, p.Reference, company.Rejected, "a closed shop")
	must(err)
}

// fillPeople invites people of a company, and gives an operator a password.
func fillPeople(t *testing.T, p *apptest.Program) (owner, bob person.Person) {
	t.Helper()
	for _, name := range []string{"olu", "ola", "vera"} {
		role := person.Owner
		if name == "vera" {
			role = person.Viewer
		}
		_, digest := person.NewLink()
		i, err := p.App.People.InvitePerson(t.Context(), tester, p.Reference, name, role, digest)
		if err != nil {
			t.Fatal(err)
		}
		if name == "olu" {
			owner = i.Person
		}
	}
	bob, err := p.App.People.FindNamed(t.Context(), "", "bob")
	if err != nil {
		t.Fatal(err)
	}
	setPassword(t, p, bob)
	return owner, bob
}

func setPassword(t *testing.T, p *apptest.Program, of person.Person) {
	t.Helper()
	c, err := p.App.People.NewCode(of, "")
	if err != nil {
		t.Fatal(err)
	}
	code, err := totp.GenerateCode(c.Secret, time.Now())
	if err == nil {
		err = p.App.People.SetPassword(t.Context(), of, person.Session{}, "a rather long phrase", c.State, code)
	}
	if err != nil {
		t.Fatal(err)
	}
}
