package apptest_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/chain"
	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/customer"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/payout"
	"github.com/kobo-waas/kobo/internal/quota"
	"github.com/kobo-waas/kobo/internal/secret"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// untouched lists the tables that stay empty in a filled database, with the reasons.
var untouched = map[string]string{
	"archive_month":      "only kobo archive writes it",
	"archive_kind":       "only kobo archive writes it",
	"erasure":            "only operators erase a customer",
	"evidence_erased":    "only operators erase a customer",
	"inbox_bank":         "only live mode identifies the accounts at banks",
	"keyring_progress":   "only kobo rekey writes it",
	"operator_door":      "the row is there only while API access is closed",
	"operator_proposal":  "only acts with four eyes write it",
	"operator_act":       "only acts with four eyes write it",
	"settlement_finding": "only altered rows write it",
	"settlement_number":  "only older programs write it",
	"operation_attempt":  "only a purchase that a biller never started writes it, if its route names a further biller",
	"vtu_product_pair":   "only operators pair products",
	"vtu_lookup":         "only a biller whose look-up is unproven at first writes it",
	"crypto_notice":      "only a notification of unknown meaning writes it",
	"crypto_balance":     "only the daily check of a node's addresses writes it",
}

// fill uses every function of a program through its API, and every table gets rows. At the end no
// job is due, and some operations are PENDING.
func fill(t *testing.T, p *apptest.Program) {
	t.Helper()
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	defer hook.Close()
	rules(t, p)
	people(t, p)
	s := everyPost(t, p, hook.URL)
	everyStory(t, p)
	everyFunding(t, p, s.kept["card"])
	everyCredit(t, p, s.kept["customer"])
	everyDeposit(t, p)
	corrections(t, p)
	p.Advance(time.Minute)
	p.Advance(15 * time.Minute)
	p.Advance(time.Hour)
	undecided(t, p)
	another := p.Company(250_000 * money.Naira)
	if _, err := p.App.Settlements.Alert(t.Context(), operator.Local("fixture"), another.Reference, another.SettlementID, 250_000*money.Naira); err != nil {
		t.Fatal(err)
	}
	another.Bought(another.Buy(another.Order(another.Bundle(), "another", "10")))
	pay(t, p.Client, p.SettlementAccountNumber, 12_345, nil)
	settled(t, p)
	onTheWay(t, p, s.kept["card"])
}

// rules makes the settings of operators that must exist before the other steps of fill.
func rules(t *testing.T, p *apptest.Program) {
	t.Helper()
	ctx, by := t.Context(), operator.Local("fixture")
	charge(t, p)
	first, err := p.App.Settlements.Create(ctx, by, p.Reference, "Closed")
	if err == nil {
		_, err = p.App.Settlements.SetStatus(ctx, by, p.Reference, first.ID, settlement.Inactive, "not used any more")
	}
	if err == nil {
		err = p.App.Payouts.SetLimit(ctx, by, p.Reference, 0, payout.Limit{Amount: 5_000_000 * money.Naira, Payouts: 500})
	}
	if err == nil {
		_, err = p.App.Companies.IssuePINToken(ctx, by, p.Reference)
	}
	if err == nil {
		err = p.App.Quotas.Set(ctx, by, p.Reference, quota.OTP, 500)
	}
	if err == nil {
		err = p.App.Payouts.SetLimit(ctx, by, p.Reference, p.SettlementID, payout.Limit{Amount: 4_000_000 * money.Naira})
	}
	if err == nil {
		err = p.App.Cards.SetAddress(ctx, by, p.Reference, customer.Address{Line1: "1 Marina", City: "Lagos", State: "Lagos"})
	}
	if err == nil {
		_, _, err = p.App.Crypto.SetKey(ctx, by, p.Reference, chain.Bitcoin, chain.PublicTestKeys[chain.Bitcoin])
	}
	var key company.Key
	if err == nil {
		key, _, err = p.App.Companies.IssueKey(ctx, by, p.Reference, time.Time{})
	}
	if err == nil {
		err = p.App.Companies.RevokeKey(ctx, by, p.Reference, key.ID)
	}
	if err == nil {
		err = p.App.Companies.SetPIN(ctx, by, p.Reference, secret.NewText("4321"))
	}
	if err == nil {
		err = p.App.Companies.SetPIN(ctx, by, p.Reference, secret.NewText(p.PIN))
	}
	if err == nil {
		err = p.App.Operators.CloseAccess(ctx, by, "a drill")
	}
	if err == nil {
		err = p.App.Operators.OpenAccess(ctx, by)
	}
	if err != nil {
		t.Fatal(err)
	}
	// The program may have seen the closed access. It looks again within seconds.
	apptest.Eventually(t, func() string {
		if a, err := p.Raw(t.Context(), http.MethodGet, "/readyz?for=companies", nil); err != nil || a.Status != http.StatusOK {
			return fmt.Sprintf("API access is still closed: %s %v", a, err)
		}
		return ""
	})
	attach(t, p, "8000000022").Want(t, http.StatusOK)
}

// everyPost sends each POST of the API contract once, under an Idempotency-Key.
func everyPost(t *testing.T, p *apptest.Program, hook string) *story {
	t.Helper()
	s := newStory(t, p, hook)
	s.kept["meter"] = p.Verify(t, p.Category("Utility", "Ikeja Electric Payment - IKEDC"), "45012345610")
	for _, o := range posts {
		if o.wait > 0 {
			p.Advance(o.wait)
		}
		path, body := s.request(o)
		s.took(p, o, p.Do(http.MethodPost, path, body, header, "key of "+o.path).Want(t, http.StatusOK))
	}
	// The first card is terminated now, and later steps use another one.
	again := post{path: "/api/v1/card/generate-card", keep: "card=id"}
	s.took(p, again, p.Do(http.MethodPost, again.path, map[string]any{"customerId": s.kept["customer"], "type": "virtual"}).Want(t, http.StatusOK))
	var deaf struct{ Data struct{ ID string } }
	p.Do(http.MethodPost, "/api/v1/webhooks", map[string]string{"url": "http://127.0.0.1:9/nobody"}).Want(t, http.StatusOK).Into(t, &deaf)
	p.Do(http.MethodDelete, "/api/v1/webhooks/"+s.kept["id"], nil).Want(t, http.StatusOK)
	return s
}

// everyStory makes purchases of each kind and payouts. The sandbox treats each of them differently,
// for example as delivered, rejected or lost. It also makes the bank return one payout.
func everyStory(t *testing.T, p *apptest.Program) {
	t.Helper()
	network, dstv := p.Category("Airtime", "MTN"), p.Category("Cable TV", "DSTV")
	power := p.Category("Utility", "Ikeja Electric Payment - IKEDC")
	padi, bundle := p.Product(dstv, "DStv Padi"), p.Bundle()
	for _, s := range stories {
		p.Buy(p.Order(bundle, "data-"+s.ending, s.ending)).Want(t, s.status)
		p.Pay(p.Airtime(network, "air-"+s.ending, "080312345"+s.ending, 10050)).Want(t, s.status)
		p.Pay(p.TV(p.Verify(t, dstv, "7012345678"), padi.Product, "tv-"+s.ending, "70123456"+s.ending)).Want(t, s.status)
		p.Pay(p.Power(p.Verify(t, power, "450123456"+s.ending), "power-"+s.ending, 2000*money.Naira)).Want(t, s.status)
		send(p.Client, verify(t, p.Client, s.ending), 10_000).Want(t, s.status)
	}
	p.Do(http.MethodPost, apptest.PurchaseData, p.Order(bundle, "refused", "01"), header, "a refusal that is kept").Want(t, http.StatusBadRequest)
	send(p.Client, verify(t, p.Client, "10"), 99_000_000).Want(t, http.StatusBadRequest)
	returned := verify(t, p.Client, "20")
	send(p.Client, returned, 10_000).Want(t, http.StatusOK)
	sandboxed(t, p, "/sandbox/reverse", map[string]any{"reference": returned})
	apptest.Eventually(t, func() string {
		if got := status(p.Client, returned); got.Status != "REVERSED" {
			return fmt.Sprintf("%+v", got)
		}
		return ""
	})
}

// everyFunding makes one card funding for each way in which the sandbox can treat a funding, and
// sends card notifications.
func everyFunding(t *testing.T, p *apptest.Program, card string) {
	t.Helper()
	for amount, want := range map[int]int{5000: 200, 5001: 400, 5002: 400} {
		p.Do(http.MethodPost, "/api/v1/card/fund-card", map[string]any{"cardId": card, "amount": amount}).Want(t, want)
	}
	c, err := p.App.Cards.Find(t.Context(), p.Reference, card)
	if err != nil {
		t.Fatal(err)
	}
	sandboxed(t, p, "/sandbox/card-notice", map[string]any{
		"callback": p.BaseURL + "/callbacks/sudo", "type": "transaction.created", "providerCardId": c.ProviderCardID, "id": "used-1", "amount": 700,
	})
}

// everyCredit makes credits for which the bank sends one, three or no notifications. The credits
// are for an unknown account, a customer, an attached account, and virtual accounts.
func everyCredit(t *testing.T, p *apptest.Program, customer string) {
	t.Helper()
	generate := func(reference string) (number string) {
		var said struct {
			Data struct{ AccountNumber string }
		}
		p.Do(http.MethodPost, "/api/v1/virtual-account/generate", map[string]any{"amount": 2500, "externalReference": reference}).
			Want(t, http.StatusOK).Into(t, &said)
		return said.Data.AccountNumber
	}
	var one struct {
		BankAccount struct{ AccountNumber string }
	}
	p.Data("/api/v1/customer/"+customer, &one)
	late := generate("invoice-late")
	pay(t, p.Client, generate("invoice-paid"), 2500, nil)
	pay(t, p.Client, p.SettlementAccountNumber, 5000, map[string]any{"duplicate": 2})
	pay(t, p.Client, p.SettlementAccountNumber, 400, map[string]any{"silent": true})
	pay(t, p.Client, "8000000022", 800, map[string]any{"stray": true})
	pay(t, p.Client, "8000000099", 700, map[string]any{"stray": true})
	pay(t, p.Client, one.BankAccount.AccountNumber, 900, nil)
	p.Advance(16 * time.Minute)
	pay(t, p.Client, late, 2500, nil)
	settled(t, p)
}

// everyDeposit makes crypto deposits and withdrawals. Some of them stay pending, and some are
// dropped by their chain.
func everyDeposit(t *testing.T, p *apptest.Program) {
	t.Helper()
	ether, bitcoin := generate(t, p, "ethereum-sepolia"), generate(t, p, "bitcoin-testnet")
	deposit := func(address, asset, amount string, confirmed bool) string {
		var said struct{ Data struct{ TxHash string } }
		sandboxed(t, p, "/sandbox/crypto-deposit", map[string]any{"address": address, "asset": asset, "amount": amount, "confirmed": confirmed}).Into(t, &said)
		return said.Data.TxHash
	}
	deposit(ether, "ETH", "0.25", true)
	deposit(bitcoin, "BTC", "0.00000001", false)
	lost := deposit(ether, "USDC", "7", false)
	sandboxed(t, p, "/sandbox/crypto-drop", map[string]any{"txHash": lost})
	sandboxed(t, p, "/sandbox/crypto-withdrawal", map[string]any{
		"address": ether, "asset": "ETH", "amount": "0.1", "to": "0x00000000000000000000000000000000000000Cc",
	})
	for range 6 {
		p.Advance(10 * time.Minute)
	}
}

// corrections makes adjustments that end in every state: waiting, approved and rejected.
func corrections(t *testing.T, p *apptest.Program) {
	t.Helper()
	ctx, ada, bob := t.Context(), operator.Local("ada"), operator.Local("bob")
	for i, direction := range []settlement.Direction{settlement.DirectionCredit, settlement.DirectionDebit, settlement.DirectionDebit, settlement.DirectionCredit} {
		a, err := p.App.Settlements.Adjust(ctx, ada, settlement.Adjustment{
			Company: p.Reference, SettlementID: p.SettlementID, Amount: money.Kobo(100 * (i + 1)), Direction: direction, Reason: "a correction by hand",
		})
		switch {
		case err == nil && i < 2:
			_, err = p.App.Settlements.Approve(ctx, bob, a.ID)
		case err == nil && i == 2:
			_, err = p.App.Settlements.Reject(ctx, bob, a.ID, "not so")
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// undecided makes operations that need a decision of operators, and differences between the bank's
// statement and the ledger. Two operators decide one case of each reason. The other cases stay
// open.
func undecided(t *testing.T, p *apptest.Program) {
	t.Helper()
	bundle := p.Bundle()
	for _, key := range []string{"unresolved-confirmed", "unresolved-rejected", "unresolved-open"} {
		p.Buy(p.Order(bundle, key, "08")).Want(t, http.StatusOK)
		send(p.Client, verify(t, p.Client, "08"), 1000).Want(t, http.StatusOK)
	}
	plantLine(t, p, "Credit", straySession, 300, "")
	plantLine(t, p, "Credit", "no-session", 310, "")
	plantLine(t, p, "Debit", "sms-1", 4, "SMS alert charge")
	for range 4 {
		p.Advance(25 * time.Hour)
	}
	list, _, err := p.App.Operations.Cases(t.Context(), operation.CaseFilter{State: operation.Open}, 100, 0)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[operation.Reason]int{}
	for _, c := range list {
		f := operation.Finding{Outcome: operation.Dismissed}
		seen[c.Reason]++
		switch n := seen[c.Reason]; {
		case c.Reason == operation.Unresolved && n < 5:
			f.Outcome = []string{operation.FoundConfirmed, operation.FoundRejected}[n%2]
		case c.Reason == operation.UnbookedCharge:
			f.Outcome = operation.Booked
		case c.Subject == "safehaven/"+straySession, c.Reason == operation.UnknownAccount:
			f = operation.Finding{Outcome: operation.Assigned, Target: p.Reference, TargetID: p.SettlementID}
		default:
			continue
		}
		for _, by := range []operator.Operator{operator.Local("ada"), operator.Local("bob")} {
			if _, err := p.App.Operations.ResolveCase(t.Context(), c.ID, f, "asked the provider", by.Name, by.Note); err != nil {
				t.Fatalf("%s: %v", c.Reason, err)
			}
		}
	}
	if len(seen) < 4 {
		t.Errorf("cases: %v", seen)
	}
	p.Advance(time.Hour)
}

// onTheWay leaves operations PENDING. Each of them has a job that polls the provider for the
// outcome.
func onTheWay(t *testing.T, p *apptest.Program, card string) {
	t.Helper()
	bundle := p.Bundle()
	for _, ending := range []string{"06", "07", "08"} {
		p.Buy(p.Order(bundle, "pending-"+ending, ending)).Want(t, http.StatusOK)
		send(p.Client, verify(t, p.Client, ending), 7000).Want(t, http.StatusOK)
	}
	p.Do(http.MethodPost, "/api/v1/card/fund-card", map[string]any{"cardId": card, "amount": 5008}).Want(t, http.StatusBadRequest)
}

// sandboxed sends a request to the sandbox controls.
func sandboxed(t *testing.T, p *apptest.Program, path string, body any) apptest.Answer {
	t.Helper()
	a, err := p.Raw(t.Context(), http.MethodPost, path, body)
	if err != nil {
		t.Fatal(err)
	}
	return a.Want(t, http.StatusOK)
}

// keep is an environment variable. If it is set, the test writes the filled homes of this schema
// into testdata. It also writes the SQL that the ledger built in this run to write several rows
// at once:
//
//	KOBO_TEST_KEEP=1 go test -run TestAFilledDatabaseHasEverything ./internal/apptest
//
// Each release adds the homes of its schema. Homes that are already kept are never replaced.
const keep = "KOBO_TEST_KEEP"

// In a filled database every table has rows, and the ledger adds up.
func TestAFilledDatabaseHasEverything(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		p := apptest.NewHome(t, dialect).Start(t, apptest.Window(4*time.Second), apptest.Routes("UTILITY=vtpass"))
		fill(t, p)
		tables := rows(t, p.App.DB)
		delete(tables, "request_key_use") // a program writes it once a minute
		for table, found := range tables {
			if _, empty := untouched[table]; empty != (len(found) == 0) {
				t.Errorf("%s has %d rows", table, len(found))
			}
		}
		holdsTogether(t, p)
		_, schema, err := p.App.DB.Migrated(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		p.Stop()
		if dialect == dbtest.Citus {
			return // the plans are those of one server
		}
		scans := dbtest.Scans(t, dbtest.Outgrown(t, dialect, func(string) bool { return false }))
		for _, statement := range db.Statements(dialect) {
			ours := func(table string) bool { return strings.Contains(statement, " "+table+" ") }
			if !slices.ContainsFunc(slices.Collect(maps.Keys(tables)), ours) {
				continue // the table of another test
			}
			if found := scans(statement); len(found) > 0 {
				t.Errorf("%s: %s", found, statement)
			}
		}
		if os.Getenv(keep) == "" || t.Failed() {
			return
		}
		p.Home.Keep(t, filepath.Join("testdata", "filled", fmt.Sprintf("%d-%s.tar.gz", schema, dialect)))
		text := strings.Join(db.Statements(dialect), ";\n\n") + ";\n"
		if err := os.WriteFile(filepath.Join("..", "testdata", "statements", fmt.Sprintf("%d-%s.sql", schema, dialect)), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	})
}
