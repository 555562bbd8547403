package admin_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/admin"
	"github.com/kobo-waas/kobo/internal/chain"
	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/operator"
)

// byTwo runs a test with an admin API that needs a second operator.
func byTwo(t *testing.T, f func(t *testing.T, d *door)) {
	t.Helper()
	dbtest.Each(t, func(t *testing.T, base *db.DB) {
		f(t, open(t, base, func(c *admin.Config) { c.FourEyes, c.PerSecond = true, 100 }))
	})
}

// propose sends a request that must become a proposal, and returns the path of the proposal.
func (d *door) propose(key, path, body string) string {
	d.t.Helper()
	status, out, _ := d.send(key, "POST", path, body)
	data, _ := out["data"].(map[string]any)
	if status != http.StatusAccepted || data["state"] != "PROPOSED" {
		d.t.Fatalf("%s %s: %d %v", path, body, status, out)
	}
	return "/admin/v1/proposals/" + data["proposalId"].(string)
}

// state checks the state of a proposal.
func (d *door) state(proposal, want string) map[string]any {
	d.t.Helper()
	p := d.ok(d.ada, "GET", proposal, "")
	if p["state"] != want {
		d.t.Errorf("the proposal is %v, want %s", p, want)
	}
	return p
}

// keys returns the number of API keys of a company.
func (d *door) keys(path string) int {
	d.t.Helper()
	return len(d.ok(d.ada, "GET", path, "")["apiKeys"].([]any))
}

// Nothing happens before a second operator approves a proposal. Then its acts happen once.
func TestAnActWaitsForASecondOperator(t *testing.T) {
	byTwo(t, func(t *testing.T, d *door) {
		path, _ := d.company()
		p := d.propose(d.ada, path+"/api-keys", `{"expiresAt":"2031-01-01T00:00:00Z"}`)
		if n := d.keys(path); n != 1 {
			t.Errorf("%d keys before the approval", n)
		}
		d.no(d.ada, "POST", p+"/approve", "", 400, "must be approved by a second operator")
		d.no(d.ada, "POST", p+"/reject", "", 400, "withdraw it")
		d.no(d.bob, "POST", p+"/withdraw", "", 400, "Only ada can withdraw")
		d.clock.Advance(time.Minute)
		if key := d.ok(d.bob, "POST", p+"/approve", ""); !strings.HasPrefix(key["apiKey"].(string), "kobo_test_") || key["expiresAt"] != "2031-01-01T00:00:00.000Z" {
			t.Errorf("the answer: %v", key)
		}
		if n := d.keys(path); n != 2 {
			t.Errorf("%d keys after the approval", n)
		}
		d.no(d.bob, "POST", p+"/approve", "", 400, "The proposal is approved already")
		got := d.state(p, "APPROVED")
		act := got["acts"].([]any)[0].(map[string]any)
		if got["proposedBy"] != "ada" || got["decidedBy"] != "bob" || act["operation"] != "issueKey" || act["doneAt"] != "2030-01-02T03:05:05.000Z" {
			t.Errorf("afterwards: %v", got)
		}
		details := d.lastLine()["details"].(map[string]any)
		if details["proposedBy"] != "ada" || !strings.HasSuffix(p, details["proposal"].(string)) {
			t.Errorf("the log: %v", details)
		}
		reference := strings.TrimPrefix(path, "/admin/v1/companies/")
		d.audited([]string{"ada company.create", "ada settlement.create", "ada proposal.create", "bob proposal.approve", "bob company.key.issue"}, reference)
	})
}

// Acts in the dangerous direction need a second operator, and acts in the other direction do not.
func TestWhichActsNeedASecondOperator(t *testing.T) {
	byTwo(t, func(t *testing.T, d *door) {
		path, account := d.company()
		_, digest := operator.NewKey()
		const limits, quotas, fees = "/payout-limits", "/quotas", "/payout-fees"
		for _, c := range []struct {
			path, body string
			two        bool
		}{
			{limits, `{"amount":100,"payouts":3}`, false}, // there was no limit
			{limits, `{"amount":100,"payouts":3}`, false},
			{limits, `{"amount":99.99,"payouts":2}`, false},
			{limits, `{"amount":50,"payouts":3}`, true},
			{limits, `{"amount":100,"payouts":1}`, true},
			{limits, `{"amount":0,"payouts":1}`, true},
			{limits, `{"settlementId":` + account + `,"amount":500,"payouts":0}`, false},
			{limits, `{"settlementId":` + account + `,"amount":501,"payouts":0}`, true},
			{quotas, `{"kind":"otp","most":5}`, false},
			{quotas, `{"kind":"otp","most":6}`, true},
			{quotas, `{"kind":"otp","most":0}`, true},
			{fees, `{"bands":[{"from":0,"flat":10,"percent":1,"cap":100}]}`, false},
			{fees, `{"bands":[{"from":0,"flat":10,"percent":1,"cap":200},{"from":5000,"flat":20,"percent":1}]}`, false},
			{fees, `{"bands":[{"from":0,"flat":10,"percent":1,"cap":200},{"from":6000,"flat":20,"percent":1}]}`, true},
			{fees, `{"bands":[{"from":0,"flat":10,"percent":0.5,"cap":200},{"from":5000,"flat":20,"percent":1}]}`, true},
			{fees, `{"bands":[{"from":0,"flat":10,"percent":1,"cap":200},{"from":5000,"flat":20,"percent":1,"cap":9000}]}`, true},
			{fees, `{"bands":[]}`, true},
			{"/kyb", `{"status":"IN_PROGRESS"}`, false},
			{"/kyb", `{"status":"SUBMITTED"}`, false},
			{"/kyb", `{"status":"APPROVED"}`, true},
			{"/live", `{"live":true}`, true},
			{"/live", `{"live":false}`, false},
			{"/api-keys", `{}`, true},
			{"/xpubs", `{"chain":"evm","xpub":"` + chain.PublicTestKeys[chain.EVM] + `"}`, true},
			{"/settlement-accounts/" + account + "/bank-accounts", `{"bank":"safehaven","accountNumber":"0123456789","accountName":"Acme"}`, true},
			{"/settlement-accounts/" + account + "/alert", `{"lowBalance":5}`, false},
			{"/pin", `{"pin":"0042"}`, false},
			{"/pin/unlock", ``, true},
			{"/request-limit", `{"requestsPerSecond":99}`, false}, // the limit of the deployment is 100
			{"/request-limit", `{"requestsPerSecond":100}`, true},
			{"/request-limit", `{"requestsPerSecond":0}`, true},
			{"/request-limit", `{"requestsPerSecond":98}`, false},
			{"/admin/v1/operators", `{"name":"eve","role":"viewer","keyDigest":"` + digest + `"}`, true},
			{"/admin/v1/operators/bob/role", `{"role":"viewer"}`, true},
			{"/admin/v1/door", `{"closed":true,"reason":"a look around"}`, false},
			{"/admin/v1/door", `{"closed":false}`, false},
		} {
			at := c.path
			if c.path == "/pin/unlock" {
				d.lockPIN(strings.TrimPrefix(path, "/admin/v1/companies/"))
			}
			if !strings.HasPrefix(at, "/admin/") {
				at = path + at
			}
			want := 200
			if c.two {
				want = 202
			}
			if status, said, _ := d.send(d.ada, "POST", at, c.body); status != want {
				t.Errorf("%s %s: %d %v", at, c.body, status, said)
			}
		}
		d.no(d.ada, "POST", "/admin/v1/companies/cnobody0000000000000000000/api-keys", "", 404, "Company not found")
	})
}

// API access that Kobo itself has closed is opened by two operators, even if an operator has given
// another reason since.
func TestTwoOperatorsOpenWhatKoboHasClosed(t *testing.T) {
	byTwo(t, func(t *testing.T, d *door) {
		const path = "/admin/v1/door"
		err := d.base.Tx(t.Context(), func(q db.Querier) error { return d.operators.Shut(t.Context(), q, "an old copy") })
		if err != nil {
			t.Fatal(err)
		}
		d.ok(d.ada, "POST", path, `{"closed":true,"reason":"a trick"}`)
		p := d.propose(d.ada, path, `{"closed":false}`)
		if is := d.ok(d.bob, "GET", path, ""); is["closed"] != true || is["byKobo"] != true || is["fourEyes"] != true {
			t.Errorf("proposed: %v", is)
		}
		if is := d.ok(d.bob, "POST", p+"/approve", ""); is["closed"] != false {
			t.Errorf("approved: %v", is)
		}
		d.no(d.bob, "POST", p+"/approve", "", 400, "approved already")
	})
}

// A new operator makes the key, and gives away only its digest. Two operators add this person, and
// change the role.
func TestOperatorsAreAddedByTwo(t *testing.T) {
	byTwo(t, func(t *testing.T, d *door) {
		key, digest := operator.NewKey()
		add := func(name, role string) string {
			return `{"name":"` + name + `","role":"` + role + `","keyDigest":"` + digest + `"}`
		}
		p := d.propose(d.ada, "/admin/v1/operators", add("eve", "support"))
		if all := fmt.Sprint(d.state(p, "PROPOSED")); strings.Contains(all, digest) || !strings.Contains(all, digest[:8]+"…") {
			t.Errorf("the digest: %s", all)
		}
		d.no(key.Reveal(), "GET", "/admin/v1/operators", "", 401, "Invalid admin key")
		if is := d.ok(d.bob, "POST", p+"/approve", ""); is["name"] != "eve" || is["role"] != "support" || is["lastUsedAt"] != nil {
			t.Errorf("added: %v", is)
		}
		d.ok(key.Reveal(), "GET", "/admin/v1/operators", "")
		d.no(d.ada, "POST", "/admin/v1/operators", add("twin", "viewer"), 400, "Another operator has the key of this digest")
		d.ok(key.Reveal(), "GET", "/admin/v1/operators", "")
		d.no(key.Reveal(), "POST", "/admin/v1/operators", add("mallory", "admin"), 403, "This needs the role admin, and eve has the role support")
		p = d.propose(d.ada, "/admin/v1/operators/eve/role", `{"role":"admin"}`)
		d.no(key.Reveal(), "POST", p+"/approve", "", 403, "role admin")
		d.no(key.Reveal(), "POST", p+"/reject", "", 403, "role admin")
		d.ok(d.bob, "POST", p+"/approve", "")
		_, another := operator.NewKey()
		d.propose(key.Reveal(), "/admin/v1/operators", strings.Replace(add("mallory", "admin"), digest, another, 1))
		d.no(d.ada, "POST", "/admin/v1/operators/nobody/role", `{"role":"admin"}`, 404, "nobody has no working key")
		for body, problem := range map[string]string{add("Eve", "viewer"): `"name" must be`, strings.Replace(add("mal", "viewer"), digest, "abc", 1): "keyDigest"} {
			d.no(d.ada, "POST", "/admin/v1/operators", body, 400, problem)
		}
	})
}

// A proposal ends by a decision, after a day, when its proposer is removed or has a lesser role, and
// when what it rests on has changed.
func TestProposalsEnd(t *testing.T) {
	byTwo(t, func(t *testing.T, d *door) {
		path, _ := d.company()
		d.ok(d.ada, "POST", path+"/payout-limits", `{"amount":100,"payouts":3}`)
		raise := func(key string) string {
			return d.propose(key, path+"/payout-limits", `{"amount":200,"payouts":3}`)
		}
		ended := func(p, state, message string) {
			t.Helper()
			d.no(d.bob, "POST", p+"/approve", "", 400, message)
			d.state(p, state)
		}
		carl := d.as("carl", operator.Finance)
		rejected, withdrawn, old, removed, lesser := raise(d.ada), raise(d.ada), raise(d.ada), raise(carl), raise(d.ada)
		d.ok(d.bob, "POST", rejected+"/reject", `{"note":"too high"}`)
		ended(rejected, "REJECTED", "rejected already")
		d.ok(d.ada, "POST", withdrawn+"/withdraw", "")
		ended(withdrawn, "WITHDRAWN", "withdrawn already")
		if err := d.operators.RevokeKey(t.Context(), operator.Local("test"), "carl"); err != nil {
			t.Fatal(err)
		}
		d.as("carl", operator.Admin)
		ended(removed, "DEAD", "dead already")
		if _, err := d.operators.SetRole(t.Context(), operator.Local("test"), "ada", operator.Support); err != nil {
			t.Fatal(err)
		}
		ended(lesser, "DEAD", "ada has the role support")
		if _, err := d.operators.SetRole(t.Context(), operator.Local("test"), "ada", operator.Admin); err != nil {
			t.Fatal(err)
		}
		d.ok(d.bob, "POST", path+"/payout-limits", `{"amount":90,"payouts":3}`)
		stale := raise(d.ada)
		ended(old, "DEAD", "limit/0 was 100.00, 3 payouts, and is 90.00, 3 payouts")
		d.clock.Advance(24 * time.Hour)
		ended(stale, "EXPIRED", "expired already")
		for status, n := range map[string]int{"DEAD": 3, "EXPIRED": 1, "PROPOSED": 0, "REJECTED": 1} {
			if rows := d.ok(d.ada, "GET", "/admin/v1/proposals?status="+status, "")["data"].([]any); len(rows) != n {
				t.Errorf("%s: %v", status, rows)
			}
		}
		if limit := d.ok(d.ada, "GET", path+"/payout-limits", "")["limits"].([]any)[0].(map[string]any)["amount"]; limit != 90.0 {
			t.Errorf("the limit is %v", limit)
		}
	})
}

// onboarding are the acts that make a new company able to work.
const onboarding = `{"operation":"moveKYB","body":{"status":"IN_PROGRESS"}},{"operation":"moveKYB","body":{"status":"SUBMITTED"}},` +
	`{"operation":"moveKYB","body":{"status":"APPROVED"}},{"operation":"setLive","body":{"live":true}},` +
	`{"operation":"setLimit","body":{"amount":1000.5,"payouts":10}},{"operation":"issueKey"}`

// One proposal holds the whole onboarding of a company. If the program ends between two acts, a
// repeated approval does the rest, and no act twice.
func TestAnOnboardingIsOneProposal(t *testing.T) {
	byTwo(t, func(t *testing.T, d *door) {
		path, _ := d.company()
		reference := strings.TrimPrefix(path, "/admin/v1/companies/")
		p := d.propose(d.ada, "/admin/v1/proposals", `{"company":"`+reference+`","acts":[`+onboarding+`]}`)
		d.begin(p, reference, company.InProgress, company.Submitted)
		status, out, _ := d.send(d.bob, "POST", p+"/approve", "")
		answers, _ := out["data"].([]any)
		if status != 200 || len(answers) != 6 || answers[0] != nil || answers[1] != nil || answers[3].(map[string]any)["live"] != true {
			t.Fatalf("continued: %d %v", status, out)
		}
		if is := d.ok(d.ada, "GET", path, ""); is["kybStatus"] != "APPROVED" || is["live"] != true || d.keys(path) != 2 {
			t.Errorf("the company: %v", is)
		}
		d.no(d.bob, "POST", p+"/approve", "", 400, "approved already")
		d.no(d.bob, "POST", p+"/reject", "", 400, "approved already")
	})
}

func TestInvalidProposalsAreRefused(t *testing.T) {
	byTwo(t, func(t *testing.T, d *door) {
		path, account := d.company()
		reference := strings.TrimPrefix(path, "/admin/v1/companies/")
		carl, _ := d.as("carl", operator.Support), account
		for _, c := range []struct{ key, company, acts, message string }{
			{d.ada, reference, ``, "must be 1 to 20 acts"},
			{d.ada, reference, strings.Repeat(`{"operation":"issueKey"},`, 20) + `{"operation":"issueKey"}`, "must be 1 to 20 acts"},
			{d.ada, reference, `{"operation":"nothing"}`, "cannot"},
			{d.ada, reference, `{"operation":"findCompany"}`, `"findCompany" is not an operation that can be proposed`},
			{d.ada, reference, `{"operation":"setPIN","body":{"pin":"0042"}}`, `"setPIN" is not an operation that can be proposed`},
			{d.ada, reference, `{"operation":"createAdjustment"}`, "not an operation that can be proposed"},
			{d.ada, "", `{"operation":"approveProposal","id":"x"}`, "not an operation that can be proposed"},
			{d.ada, "", `{"operation":"issueKey"}`, `issueKey: its path is`},
			{d.ada, reference, `{"operation":"setDoor","body":{"closed":false}}`, `setDoor: its path is`},
			{d.ada, reference, `{"operation":"revokeKey"}`, `{id} is ""`},
			{d.ada, reference, `{"operation":"issueKey","id":"1"}`, `{id} is "1"`},
			{d.ada, reference, `{"operation":"setLive","body":{}}`, `"live" is required`},
			{d.ada, reference, `{"operation":"setLive","body":{"live":true,"pin":"0042"}}`, `"pin" is not allowed`},
			{d.ada, reference, `{"operation":"revokeKey","id":"1","body":{"a":1}}`, "takes no body"},
			{d.ada, "cnobody0000000000000000000", `{"operation":"issueKey"}`, "Company not found"},
			{carl, reference, `{"operation":"unlockPIN"},{"operation":"issueKey"}`, "issueKey: This needs the role admin"},
		} {
			status, said, _ := d.send(c.key, "POST", "/admin/v1/proposals", `{"company":"`+c.company+`","acts":[`+c.acts+`]}`)
			text := fmt.Sprint(said["message"], said["details"])
			if c.message == "cannot" {
				c.message = `"nothing" is not an operation that can be proposed`
			}
			if status < 400 || status >= 500 || !strings.Contains(text, c.message) {
				t.Errorf("%s: %d %s; want %s", c.acts, status, text, c.message)
			}
		}
		if rows := d.ok(d.ada, "GET", "/admin/v1/proposals", "")["data"].([]any); len(rows) != 0 {
			t.Errorf("stored: %v", rows)
		}
		d.no(d.ada, "POST", "/admin/v1/proposals/none/approve", "", 404, "Proposal not found")
	})
}

// Approvals at the same time do each act once, for acts of a company and for acts of none.
func TestApprovalsAtOnceDoEachActOnce(t *testing.T) {
	byTwo(t, func(t *testing.T, d *door) {
		path, _ := d.company()
		reference := strings.TrimPrefix(path, "/admin/v1/companies/")
		_, digest := operator.NewKey()
		var keys []string
		for i := range 4 {
			keys = append(keys, d.as(fmt.Sprintf("second-%d", i), operator.Admin))
		}
		for _, p := range []string{
			d.propose(d.ada, "/admin/v1/proposals", `{"company":"`+reference+`","acts":[{"operation":"issueKey"},`+onboarding+`]}`),
			d.propose(d.ada, "/admin/v1/operators", `{"name":"eve","role":"viewer","keyDigest":"`+digest+`"}`),
		} {
			var all sync.WaitGroup
			for _, key := range append(keys, keys...) {
				all.Go(func() {
					r, _ := http.NewRequestWithContext(t.Context(), "POST", d.url+p+"/approve", nil)
					r.Header.Set("Authorization", "Bearer "+key)
					w, err := http.DefaultClient.Do(r)
					if err != nil {
						t.Error(err)
						return
					}
					defer w.Body.Close()
					if w.StatusCode != 200 && w.StatusCode != 400 && w.StatusCode != 409 {
						t.Errorf("%s: %d", p, w.StatusCode)
					}
				})
			}
			all.Wait()
			d.no(d.bob, "POST", p+"/approve", "", 400, "approved already")
			for _, act := range d.state(p, "APPROVED")["acts"].([]any) {
				if act.(map[string]any)["doneAt"] == nil {
					t.Errorf("not done: %v", act)
				}
			}
		}
		if n := d.keys(path); n != 3 {
			t.Errorf("%d API keys", n)
		}
		count := map[string]int{}
		for _, line := range d.ok(d.ada, "GET", "/admin/v1/audit?pageSize=100", "")["data"].([]any) {
			l := line.(map[string]any)
			if details := l["details"].(map[string]any); details["proposal"] != nil && !strings.HasPrefix(l["action"].(string), "proposal.") {
				count[l["action"].(string)]++
			}
		}
		if want := map[string]int{"company.key.issue": 2, "company.kyb": 3, "company.live": 1, "payout.limit": 1, "operator.key.issue": 1}; fmt.Sprint(count) != fmt.Sprint(want) {
			t.Errorf("done: %v, want %v", count, want)
		}
	})
}
