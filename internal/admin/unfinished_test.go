package admin_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/secret"
)

// lockPIN sets a company's PIN and locks it with wrong tries.
func (d *door) lockPIN(reference string) {
	d.t.Helper()
	if err := d.companies.SetPIN(d.t.Context(), operator.Local("test"), reference, secret.NewText("0042")); err != nil {
		d.t.Fatal(err)
	}
	for range 5 {
		if err := d.companies.CheckPIN(d.t.Context(), reference, "9999"); err == nil {
			d.t.Fatal("a wrong PIN was right")
		}
	}
}

// listed reports whether the list of a status has the proposal.
func (d *door) listed(status, proposal string) bool {
	d.t.Helper()
	rows := d.ok(d.ada, "GET", "/admin/v1/proposals?status="+status, "")["data"].([]any)
	return strings.Contains(fmt.Sprint(rows), strings.TrimPrefix(proposal, "/admin/v1/proposals/"))
}

// halfDone returns a company and an approved proposal. Its first act is done and has made a key token. Its
// second act is refused, because another company has got the bank account meanwhile.
func (d *door) halfDone(number string) (reference, proposal string, token string) {
	d.t.Helper()
	path, account := d.company()
	reference = strings.TrimPrefix(path, "/admin/v1/companies/")
	proposal = d.propose(d.ada, "/admin/v1/proposals", `{"company":"`+reference+`","acts":[{"operation":"issueKey"},
		{"operation":"attachBankAccount","id":"`+account+`","body":{"bank":"safehaven","accountNumber":"`+number+`","accountName":"Acme"}},
		{"operation":"setLive","body":{"live":false}}]}`)
	other, _ := d.company()
	_, err := d.settlements.Attach(d.t.Context(), operator.Local("test"), strings.TrimPrefix(other, "/admin/v1/companies/"), 1, "safehaven", number, "Other")
	if err != nil {
		d.t.Fatal(err)
	}
	status, out, _ := d.send(d.bob, "POST", proposal+"/approve", "")
	answers, _ := out["answers"].([]any)
	if status != 400 || !strings.Contains(fmt.Sprint(out["message"]), "attachBankAccount: The bank account belongs to another company") || len(answers) != 3 || answers[1] != nil || answers[2] != nil {
		d.t.Fatalf("the approval: %d %v", status, out)
	}
	return reference, proposal, answers[0].(map[string]any)["keyToken"].(string)
}

// If an act of an approved proposal is refused, the error shows the answers of the acts before it. The
// proposal waits as unfinished, until the second operator rejects or the proposer withdraws what is left.
func TestAnUnfinishedProposalCanBeEnded(t *testing.T) {
	byTwoHidden(t, func(t *testing.T, d *door) {
		reference, p, token := d.halfDone("0123456789")
		if !d.listed("PROPOSED", p) || !d.listed("UNFINISHED", p) || d.listed("APPROVED", p) {
			t.Error("the unfinished proposal is in the wrong lists")
		}
		if _, _, err := d.companies.ClaimKey(t.Context(), reference, token); err != nil {
			t.Errorf("the token of the done act: %v", err)
		}
		// A repeated approval does no act twice, and stops at the same act.
		status, out, _ := d.send(d.bob, "POST", p+"/approve", "")
		if status != 400 || out["answers"] != nil {
			t.Errorf("repeated: %d %v", status, out)
		}
		d.no(d.ada, "POST", p+"/approve", "", 400, "must be approved by a second operator")
		stale, err := d.operators.Proposal(t.Context(), strings.TrimPrefix(p, "/admin/v1/proposals/"))
		if err != nil {
			t.Fatal(err)
		}
		d.ok(d.ada, "POST", p+"/withdraw", "")
		details := d.lastLine()["details"].(map[string]any)
		if details["done"] != "issueKey" || details["notDone"] != "attachBankAccount setLive" {
			t.Errorf("the log: %v", details)
		}
		acts := d.state(p, "WITHDRAWN")["acts"].([]any)
		if acts[0].(map[string]any)["doneAt"] == nil || acts[1].(map[string]any)["doneAt"] != nil {
			t.Errorf("the acts: %v", acts)
		}
		if d.listed("PROPOSED", p) || d.listed("UNFINISHED", p) {
			t.Error("the withdrawn proposal still waits")
		}
		d.no(d.bob, "POST", p+"/approve", "", 400, "withdrawn already")
		d.no(d.bob, "POST", p+"/reject", "", 400, "withdrawn already")
		// An approval that began before does not do the ended acts.
		if _, err := d.companies.SetLive(t.Context(), operator.Operator{Name: "bob"}.As(stale, 2), reference, false); err == nil {
			t.Error("an ended act was done")
		}
		_, other, _ := d.halfDone("0123456788")
		d.ok(d.bob, "POST", other+"/reject", `{"note":"a wrong account"}`)
		d.state(other, "REJECTED")
		_, late, _ := d.halfDone("0123456787")
		d.clock.Advance(24 * time.Hour)
		d.state(late, "EXPIRED")
		d.no(d.bob, "POST", late+"/approve", "", 400, "expired already")
		if d.listed("PROPOSED", late) || !d.listed("EXPIRED", late) {
			t.Error("the expired proposal still waits")
		}
	})
}

// Of acts that concern no company, an ended one is not done either.
func TestAnEndedActOfNoCompanyIsNotDone(t *testing.T) {
	byTwo(t, func(t *testing.T, d *door) {
		_, digest := operator.NewKey()
		p := d.propose(d.ada, "/admin/v1/operators", `{"name":"eve","role":"viewer","keyDigest":"`+digest+`"}`)
		stored, err := d.operators.Proposal(t.Context(), strings.TrimPrefix(p, "/admin/v1/proposals/"))
		if err != nil {
			t.Fatal(err)
		}
		bob, err := d.operators.Find(t.Context(), "bob")
		if err == nil {
			err = d.operators.Approve(t.Context(), bob, stored, func() error { return nil })
		}
		if err != nil { // now the program ends
			t.Fatal(err)
		}
		d.state(p, "UNFINISHED")
		d.ok(d.bob, "POST", p+"/reject", "")
		if _, err := d.operators.Add(t.Context(), bob.As(stored, 0), "eve", operator.Viewer, digest); err == nil {
			t.Error("an ended act was done")
		}
		d.state(p, "REJECTED")
	})
}

// The operator whose approval made a token can make it again until the company has used it. Nobody else can.
func TestALostTokenIsMadeAgain(t *testing.T) {
	byTwoHidden(t, func(t *testing.T, d *door) {
		path, _ := d.company()
		reference := strings.TrimPrefix(path, "/admin/v1/companies/")
		carl := d.as("carl", operator.Admin)
		const issue, reset = `{"operation":"issueKey"}`, `{"operation":"resetPIN"}`
		p := d.propose(d.ada, "/admin/v1/proposals", `{"company":"`+reference+`","acts":[`+issue+`,`+reset+`]}`)
		renew := p + "/renew-token"
		d.no(d.bob, "POST", renew, issue, 400, "was not made by your approval of this proposal") // it is that of the new company
		d.no(d.bob, "POST", renew, reset, 400, "PIN token is not there")
		status, out, _ := d.send(d.bob, "POST", p+"/approve", "")
		if status != 200 {
			t.Fatalf("%d %v", status, out)
		}
		lost := out["data"].([]any)[0].(map[string]any)
		d.no(d.bob, "POST", renew, `{"operation":"setLive"}`, 400, `"operation" must be one of [issueKey, resetPIN]`)
		d.no(d.ada, "POST", renew, issue, 400, "was not made by your approval")
		d.no(carl, "POST", renew, issue, 400, "was not made by your approval")
		d.clock.Advance(time.Hour)
		again := d.ok(d.bob, "POST", renew, issue)
		if again["expiresAt"] != lost["expiresAt"] || again["keyToken"] == lost["keyToken"] {
			t.Errorf("again: %v, was %v", again, lost)
		}
		if line := d.lastLine(); line["operator"] != "bob" || line["action"] != "company.key.token" || line["details"].(map[string]any)["proposedBy"] != "ada" {
			t.Errorf("the log: %v", line)
		}
		again = d.ok(d.bob, "POST", renew, issue) // the second one got lost as well
		if _, _, err := d.companies.ClaimKey(t.Context(), reference, lost["keyToken"].(string)); err == nil || !strings.Contains(err.Error(), "was replaced") {
			t.Errorf("the lost token: %v", err)
		}
		if _, _, err := d.companies.ClaimKey(t.Context(), reference, again["keyToken"].(string)); err != nil {
			t.Error(err)
		}
		d.no(d.bob, "POST", renew, issue, 400, "Key token was used already")
		pin := d.ok(d.bob, "POST", renew, reset)
		if err := d.companies.ResetPIN(t.Context(), reference, pin["pinToken"].(string), secret.NewText("0042"), nil); err != nil {
			t.Error(err)
		}
		d.no(d.bob, "POST", renew, reset, 400, "PIN token is not there")
		d.no(d.bob, "POST", "/admin/v1/proposals/none/renew-token", reset, 404, "Proposal not found")
		d.clock.Advance(23 * time.Hour)
		if n, err := d.companies.Working(t.Context(), reference); err != nil || len(n) != 1 {
			t.Errorf("%d keys, %v", len(n), err)
		}
	})
}
