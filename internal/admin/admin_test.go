package admin_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/kobo-waas/kobo/internal/admin"
	"github.com/kobo-waas/kobo/internal/card"
	"github.com/kobo-waas/kobo/internal/chain"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/crypto"
	"github.com/kobo-waas/kobo/internal/customer"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/erasure"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/identity"
	"github.com/kobo-waas/kobo/internal/inbox"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/payout"
	"github.com/kobo-waas/kobo/internal/person"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/quota"
	"github.com/kobo-waas/kobo/internal/report"
	"github.com/kobo-waas/kobo/internal/secret"
	"github.com/kobo-waas/kobo/internal/settlement"
	"github.com/kobo-waas/kobo/internal/vtu"
	"github.com/kobo-waas/kobo/internal/webhook"
)

// door is a running admin API with the keys of two operators.
type door struct {
	t           *testing.T
	url         string
	base        *db.DB
	clock       *clock.Manual
	book        *ledger.Book
	companies   *company.Service
	settlements *settlement.Service
	operators   *operator.Service
	people      *person.Service
	operations  *operation.Service
	webhooks    *webhook.Service
	inbox       *inbox.Service
	crypto      *crypto.Service
	ada, bob    string // the admin keys of the two operators
	log         *bytes.Buffer
	seen        []string // the bodies of all responses so far
}

func each(t *testing.T, f func(t *testing.T, d *door)) {
	t.Helper()
	dbtest.Each(t, func(t *testing.T, base *db.DB) { f(t, open(t, base)) })
}

func open(t *testing.T, base *db.DB, change ...func(*admin.Config)) *door {
	t.Helper()
	clk := clock.At(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC))
	keys, err := secret.Parse(secret.Generate())
	if err != nil {
		t.Fatal(err)
	}
	d := &door{t: t, clock: clk, book: ledger.New(base, clk), log: &bytes.Buffer{}}
	t.Cleanup(d.book.Drain)
	log := slog.New(slog.NewJSONHandler(d.log, nil))
	d.companies = company.New(base, d.book, keys, clk)
	d.companies.Self = func(ctx context.Context, reference string) company.Actor { return operator.Self(reference).From(ctx) }
	d.operators, d.base = operator.New(base, keys, clk), base
	d.operations = operation.WithOperators(base, d.book, clk, log, time.Second, d.operators.MayStillPropose)
	d.settlements = settlement.New(settlement.Config{DB: base, Book: d.book, Clock: clk, Operations: d.operations, Banks: map[string]settlement.Bank{
		"safehaven": {Name: "Safe Haven MFB", Code: "090286", Float: "0100000001"},
	}})
	d.webhooks = webhook.New(webhook.Config{
		DB: base, Book: d.book, Events: event.NewService(base, d.book), Keys: keys, Clock: clk, Log: log, Loopback: true,
	})
	d.inbox = inbox.NewService(inbox.Config{
		DB: base, Keys: keys, Clock: clk, Log: log, Banks: map[string]provider.Receiver{"safehaven": silentBank{}}, Stored: func() {},
	})
	d.crypto = crypto.New(crypto.Config{
		DB: base, Book: d.book, Clock: clk, Log: log, Operations: d.operations, Ask: d.settlements.Ask, Networks: chain.Testnets(), TestKeys: true,
	})
	for name, key := range map[string]*string{"ada": &d.ada, "bob": &d.bob} {
		_, text, err := d.operators.IssueKey(t.Context(), operator.Local("test"), name)
		if err != nil {
			t.Fatal(err)
		}
		*key = text.Reveal()
	}
	config := admin.Config{
		Companies: d.companies, Settlements: d.settlements, Operators: d.operators, Operations: d.operations, Crypto: d.crypto,
		Webhooks: d.webhooks, Inbox: d.inbox, Reports: report.New(base, clk), Book: d.book, Clock: clk, Log: log,
		Quotas: quota.New(base, d.book, clk),
		Payouts: payout.New(payout.Config{
			DB: base, Book: d.book, Clock: clk, Log: log, Companies: d.companies, Operations: d.operations, Settlements: d.settlements,
		}),
		Cards: card.New(card.Config{
			DB: base, Book: d.book, Clock: clk, Log: log, Operations: d.operations, Settlements: d.settlements, Window: time.Second,
		}),
	}
	config.Shop = vtu.New(vtu.Config{DB: base, Book: d.book, Clock: clk, Log: log, Operations: d.operations, Settlements: d.settlements, Note: d.operators.NoteIn})
	people := identity.New(identity.Config{DB: base, Book: d.book, Clock: clk, Log: log, Keys: keys})
	config.Customers = customer.New(customer.Config{DB: base, Book: d.book, Clock: clk, Log: log, Identities: people, Settlements: d.settlements})
	config.Erasures = erasure.New(erasure.Config{
		DB: base, Book: d.book, Clock: clk, Log: log, Ring: keys, Cards: config.Cards, Identities: people, Operations: d.operations, Years: 5,
		Customers: config.Customers,
	})
	config.Program = admin.Program{
		Name: "test", Running: func(context.Context) ([]string, error) { return []string{"other", "test"}, nil },
		Calls: provider.NewFigures(), Wallets: func() map[string]provider.Reading { return nil },
	}
	config.Worker = job.NewWorker(base, clk, log, job.Config{})
	config.InForce.Environment = "dev"
	config.InForce.Keys = func(context.Context) ([]admin.KeysOf, error) { return nil, nil }
	config.People, err = person.New(person.Config{DB: base, Keys: keys, Operators: d.operators, Clock: clk, Machine: clk})
	if err != nil {
		t.Fatal(err)
	}
	d.people = config.People
	for _, f := range change {
		f(&config)
	}
	handler, err := admin.New(config)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	d.url = server.URL
	return d
}

// send makes one request. It returns the status, the decoded body and the header.
func (d *door) send(key, method, path, body string) (int, map[string]any, http.Header) {
	d.t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), method, d.url+path, strings.NewReader(body))
	if err != nil {
		d.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+key)
	r.Header.Set("Content-Type", "application/json")
	w, err := http.DefaultClient.Do(r)
	if err != nil {
		d.t.Fatal(err)
	}
	defer w.Body.Close()
	text, err := io.ReadAll(w.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	d.seen = append(d.seen, string(text))
	d.describes(r, body, w, text)
	var out map[string]any
	if err := json.Unmarshal(text, &out); err != nil && method != http.MethodHead {
		d.t.Errorf("%s %s: not JSON: %q", method, path, text)
	}
	return w.StatusCode, out, w.Header
}

// describes compares each accepted request and each response with the contract.
func (d *door) describes(r *http.Request, body string, w *http.Response, text []byte) {
	d.t.Helper()
	c, err := described()
	if err != nil {
		d.t.Fatal(err)
	}
	if r.Method == http.MethodHead || !utf8.ValidString(r.URL.Path) {
		return
	}
	if err := c.Holds(r, w.StatusCode, w.Header, text); err != nil {
		d.t.Errorf("%s %s: %v: %s", r.Method, r.URL, err, text)
	}
	if w.StatusCode == http.StatusOK || w.StatusCode == http.StatusAccepted {
		shown.Store(c.Operation(r.Method, r.URL.EscapedPath()), true)
		if err := c.Takes(r, body); err != nil {
			d.t.Errorf("%s %s was taken: %v: %s", r.Method, r.URL, err, body)
		}
	}
}

// The method ok sends a request that must succeed, and returns the data of the response.
func (d *door) ok(key, method, path, body string) map[string]any {
	d.t.Helper()
	status, out, _ := d.send(key, method, path, body)
	if status != http.StatusOK || out["status"] != "success" {
		d.t.Fatalf("%s %s %s: %d %v", method, path, body, status, out)
	}
	data, _ := out["data"].(map[string]any)
	return data
}

// The method no sends a request that must be refused with the given status. The message or the
// details of the response must contain the given text.
func (d *door) no(key, method, path, body string, status int, message string) {
	d.t.Helper()
	got, out, _ := d.send(key, method, path, body)
	details, _ := out["details"].([]any)
	said, _ := out["message"].(string)
	for _, line := range details {
		said += "; " + line.(string)
	}
	if got != status || out["status"] != "error" || !strings.Contains(said, message) {
		d.t.Errorf("%s %s %.80s: %d %q; want %d %q", method, path, body, got, said, status, message)
	}
}

// company creates a company with a settlement account. It returns the company's path and the
// account's id.
func (d *door) company() (path string, settlementID string) {
	d.t.Helper()
	path = "/admin/v1/companies/" + d.ok(d.ada, "POST", "/admin/v1/companies", `{"name":"Acme"}`)["reference"].(string)
	account := d.ok(d.ada, "POST", path+"/settlement-accounts", `{"name":"Main"}`)
	b, err := json.Marshal(account["id"])
	if err != nil {
		d.t.Fatal(err)
	}
	return path, string(b)
}

func (d *door) balance(path string) any {
	d.t.Helper()
	return d.ok(d.ada, "GET", path, "")["settlementAccounts"].([]any)[0].(map[string]any)["balance"]
}

// A new company gets tokens only when its KYB is approved and the company is live.
func TestOnboarding(t *testing.T) {
	each(t, func(t *testing.T, d *door) {
		made := d.ok(d.ada, "POST", "/admin/v1/companies", `{"name":"Acme"}`)
		reference, first := made["reference"].(string), made["apiKey"].(string)
		path := "/admin/v1/companies/" + reference
		if c := d.ok(d.ada, "GET", path, ""); c["kybStatus"] != "NOT_STARTED" || c["live"] != false || c["name"] != "Acme" {
			t.Errorf("a new company: %v", c)
		}
		if _, _, err := d.companies.Tokens(t.Context(), reference, first); err == nil {
			t.Error("a new company has tokens")
		}
		d.no(d.ada, "POST", path+"/kyb", `{"status":"APPROVED"}`, 400, "KYB cannot move from NOT_STARTED to APPROVED")
		for _, status := range []string{"IN_PROGRESS", "SUBMITTED", "APPROVED"} {
			d.ok(d.ada, "POST", path+"/kyb", `{"status":"`+status+`","reason":"papers seen"}`)
		}
		if c := d.ok(d.ada, "POST", path+"/live", `{"live":true}`); c["live"] != true || c["kybStatus"] != "APPROVED" {
			t.Errorf("live: %v", c)
		}
		d.pin(path, "NOT_SET")
		d.ok(d.ada, "POST", path+"/pin", `{"pin":"0042"}`)
		d.no(d.ada, "POST", path+"/pin/unlock", ``, 400, "PIN is not locked")
		if err := d.companies.CheckPIN(t.Context(), reference, "0042"); err != nil {
			t.Error(err)
		}
		d.pin(path, "SET")
		for range 5 {
			if err := d.companies.CheckPIN(t.Context(), reference, "0043"); err == nil {
				t.Error("a wrong PIN")
			}
		}
		d.pin(path, "LOCKED")
		d.ok(d.bob, "POST", path+"/pin/unlock", ``)
		if err := d.companies.CheckPIN(t.Context(), reference, "0042"); err != nil {
			t.Errorf("the unlocked PIN: %v", err)
		}
		d.ok(d.ada, "POST", path+"/pin", `{"pin":"0042"}`)
		d.pin(path, "SET")
		second := d.ok(d.bob, "POST", path+"/api-keys", `{"expiresAt":"2031-01-01T00:00:00Z"}`)
		if second["expiresAt"] != "2031-01-01T00:00:00.000Z" {
			t.Errorf("the second key: %v", second)
		}
		for _, key := range []string{first, second["apiKey"].(string)} {
			if _, _, err := d.companies.Tokens(t.Context(), reference, key); err != nil {
				t.Error(err)
			}
		}
		d.ok(d.bob, "DELETE", path+"/api-keys/"+second["id"].(string), "")
		if _, _, err := d.companies.Tokens(t.Context(), reference, second["apiKey"].(string)); err == nil {
			t.Error("a revoked key works")
		}
		d.no(d.bob, "DELETE", path+"/api-keys/"+second["id"].(string), "", 400, "revoked already")
		account := d.ok(d.ada, "POST", path+"/settlement-accounts", `{"name":"Main"}`)
		if account["id"] != 1.0 || account["balance"] != 0.0 || account["isDefault"] != true || account["accountNumber"] != nil {
			t.Errorf("settlement account: %v", account)
		}
		d.audited([]string{
			"ada company.create", "ada company.kyb", "ada company.kyb", "ada company.kyb", "ada company.live", "ada company.pin", "company:" + reference + " company.pin.lock", "bob company.pin.unlock", "ada company.pin",
			"bob company.key.issue", "bob company.key.revoke", "ada settlement.create",
		}, reference)
	})
}

// pin checks the state of the company's PIN.
func (d *door) pin(path, want string) {
	d.t.Helper()
	if got := d.ok(d.ada, "GET", path, "")["pinStatus"]; got != want {
		d.t.Errorf("the PIN is %v, want %s", got, want)
	}
}

// audited checks that the audit log of a company has exactly these lines. It also checks that
// neither the audit log nor the program's log contains a secret.
func (d *door) audited(want []string, reference string) {
	d.t.Helper()
	rows := d.ok(d.ada, "GET", "/admin/v1/audit?company="+reference, "")["data"].([]any)
	var got []string
	for _, row := range rows {
		row := row.(map[string]any)
		got = append([]string{row["operator"].(string) + " " + row["action"].(string)}, got...)
	}
	if strings.Join(got, ", ") != strings.Join(want, ", ") {
		d.t.Errorf("the log: %q; want %q", got, want)
	}
	log := d.seen[len(d.seen)-1] + d.log.String()
	for _, s := range []string{"kobo_test_", "kobo_admin_", "0042"} {
		if strings.Contains(log, s) {
			d.t.Errorf("%s is in the log", s)
		}
	}
}

func TestRequestsNeedAKey(t *testing.T) {
	each(t, func(t *testing.T, d *door) {
		d.no("", "GET", "/admin/v1/companies", "", 401, "Admin key is missing")
		for _, key := range []string{"x", "kobo_admin_", d.ada[:len(d.ada)-1], d.ada + "x"} {
			d.no(key, "GET", "/admin/v1/companies", "", 401, "Invalid admin key")
		}
		if err := d.operators.RevokeKey(t.Context(), operator.Local("test"), "bob"); err != nil {
			t.Fatal(err)
		}
		d.no(d.bob, "POST", "/admin/v1/companies", `{"name":"Acme"}`, 401, "Invalid admin key")
		_, _, header := d.send(d.bob, "GET", "/admin/v1/companies", "")
		if header.Get("WWW-Authenticate") != "Bearer" || header.Get("Cache-Control") != "no-store" {
			t.Errorf("headers %v", header)
		}
	})
}

func TestInvalidRequestsAreRefused(t *testing.T) {
	each(t, func(t *testing.T, d *door) {
		const companies = "/admin/v1/companies"
		path, account := d.company()
		for _, c := range []struct {
			path, body string
			status     int
			message    string
		}{
			{companies, ``, 400, `"name" is required`},
			{companies, `{}`, 400, `"name" is required`},
			{companies, `{"name":1}`, 400, `"name" must be a string`},
			{companies, `{"name":null}`, 400, `"name" must be a string`},
			{companies, `{"name":"A"}`, 400, `"name" must have 2 to 100 characters`},
			{companies, `{"name":"Acme\u0000"}`, 400, `"name" must not contain control characters`},
			{companies, `{"name":"Acme","Name":"x","b":{"c":1}}`, 400, `"Name" is not allowed; "b" is not allowed`},
			{companies, `{"name":"Acme","name":"Acme"}`, 400, `repeats the field "name"`},
			{companies, `{"name":"Acme"} {}`, 400, "not valid JSON"},
			{companies, `{"name":"Acme"`, 400, "not valid JSON"},
			{companies, "{\"name\":\"Acme\xff\"}", 400, "not valid JSON"},
			{companies, `["name"]`, 400, "must be a JSON object"},
			{companies, `{"name":"` + strings.Repeat("a", 64<<10) + `"}`, 413, "larger than 64 KiB"},
			{path + "/kyb", `{"status":"DONE"}`, 400, `"status" must be one of [APPROVED, `},
			{path + "/live", `{"live":"true"}`, 400, `"live" must be a boolean`},
			{path + "/pin", `{"pin":1234}`, 400, `"pin" must be a string`},
			{path + "/pin", `{"pin":"12345"}`, 400, `"pin" must be exactly 4 digits`},
			{path + "/api-keys", `{"expiresAt":"tomorrow"}`, 400, `"expiresAt" must be in ISO 8601 date format`},
			{path + "/api-keys", `{"expiresAt":"2029-01-01T00:00:00Z"}`, 400, `"expiresAt" must be in the future`},
			{
				path + "/adjustments", `{"settlementId":"1","amount":"5","direction":"credit"}`, 400,
				`"settlementId" must be a positive integer; "amount" must be a number; "reason" is required`,
			},
			{path + "/adjustments", `{"settlementId":` + account + `,"amount":1.005,"direction":"credit","reason":"because"}`, 400, `"amount" must have no more than 2 decimal places`},
			{path + "/adjustments", `{"settlementId":` + account + `,"amount":1e3,"direction":"credit","reason":"because"}`, 400, `"amount" must be a number`},
			{path + "/adjustments", `{"settlementId":` + account + `,"amount":-1,"direction":"credit","reason":"because"}`, 400, `"amount" must not be negative`},
			{path + "/adjustments", `{"settlementId":` + account + `,"amount":0,"direction":"credit","reason":"because"}`, 400, `"amount" must be greater than 0`},
			{path + "/adjustments", `{"settlementId":` + account + `,"amount":1,"direction":"up","reason":"because"}`, 400, `"direction" must be one of [credit, debit]`},
			{path + "/adjustments", `{"settlementId":99,"amount":1,"direction":"credit","reason":"because"}`, 404, "Settlement account not found"},
			{companies + "/cnobody0000000000000000000/live", `{"live":true}`, 404, "Company not found"},
			{companies + "/%00/live", `{"live":true}`, 400, "not text"},
			{companies + "/c/nothing", `{}`, 404, "Not found"},
			{"/admin/v1/adjustments/none/approve", `{}`, 404, "Adjustment not found"},
			{"/admin/v1/cases/none/resolve", `{"outcome":"confirmed","note":"n"}`, 404, "Case not found"},
		} {
			d.no(d.ada, "POST", c.path, c.body, c.status, c.message)
		}
		status, _, header := d.send(d.ada, "DELETE", companies, "")
		if status != 405 || header.Get("Allow") != "GET, HEAD, POST" {
			t.Errorf("wrong method: %d, Allow %q", status, header.Get("Allow"))
		}
		d.no(d.ada, "GET", "/admin/v1/audit?company=%00", "", 400, "not text")
		d.no(d.ada, "GET", "/admin/v1/cases?status=closed", "", 400, "must be one of [OPEN, RESOLVED]")
		d.no(d.ada, "GET", "/admin/v1/cases?reason=unresolved", "", 400, "must be one of [UNRESOLVED, CONTRADICTION, ")
		if strings.Contains(d.log.String(), "failed") {
			t.Errorf("something failed inside: %s", d.log)
		}
	})
}

func TestListsArePaged(t *testing.T) {
	each(t, func(t *testing.T, d *door) {
		for _, name := range []string{"one", "two", "three"} {
			d.clock.Advance(time.Second)
			d.ok(d.ada, "POST", "/admin/v1/companies", `{"name":"`+name+`"}`)
		}
		page := d.ok(d.ada, "GET", "/admin/v1/companies?page=2&pageSize=1", "")
		rows, meta := page["data"].([]any), page["meta"].(map[string]any)
		if len(rows) != 1 || rows[0].(map[string]any)["name"] != "two" {
			t.Errorf("rows %v", rows)
		}
		for name, want := range map[string]any{
			"page": 2.0, "pageSize": 1.0, "totalItems": 3.0, "totalPages": 3.0, "hasNextPage": true, "hasPrevPage": true,
			"nextPage": "/admin/v1/companies?page=3&pageSize=1", "prevPage": "/admin/v1/companies?page=1&pageSize=1", "from": 2.0, "to": 2.0,
		} {
			if meta[name] != want {
				t.Errorf("%s is %v; want %v", name, meta[name], want)
			}
		}
		for query, size := range map[string]float64{"pageSize=1000": 100, "pageSize=0": 50, "pageSize=-1": 50, "pageSize=many": 50, "": 50} {
			meta := d.ok(d.ada, "GET", "/admin/v1/companies?page=99999999999999999999&"+query, "")["meta"].(map[string]any)
			if meta["pageSize"] != size || meta["from"] != 0.0 || meta["to"] != 0.0 || meta["hasNextPage"] != false {
				t.Errorf("%s: %v", query, meta)
			}
		}
	})
}

// A query parameter that the operation does not have is refused. If a filter were ignored, the list
// would show everything. If dry_run were ignored, the change would be made.
func TestUnknownQueryParametersAreRefused(t *testing.T) {
	each(t, func(t *testing.T, d *door) {
		for method, path := range map[string]string{
			"GET": "/admin/v1/audit?compani=x", "POST": "/admin/v1/companies?dry_run=true",
		} {
			status, answer, _ := d.send(d.ada, method, path, `{"name":"Dry Company"}`)
			if text := fmt.Sprint(answer["message"]); status != 400 || !strings.HasSuffix(text, "is not allowed") {
				t.Errorf("%s %s: %d %v", method, path, status, answer)
			}
		}
		if _, answer, _ := d.send(d.ada, "GET", "/admin/v1/companies?page=1&pageSize=50", ""); strings.Contains(fmt.Sprint(answer), "Dry Company") {
			t.Errorf("a company was made: %v", answer)
		}
		if status, answer, _ := d.send(d.ada, "GET", "/admin/v1/audit?company=a;b", ""); status != 400 || answer["message"] != `"company" must be percent-encoded` {
			t.Errorf("a semicolon: %d %v", status, answer)
		}
	})
}
