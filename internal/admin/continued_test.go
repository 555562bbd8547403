package admin_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/operator"
)

// begin does the first acts of an approved proposal, which set KYB states. Then the program ends.
func (d *door) begin(proposal, reference string, states ...company.KYB) {
	d.t.Helper()
	stored, err := d.operators.Proposal(d.t.Context(), strings.TrimPrefix(proposal, "/admin/v1/proposals/"))
	if err != nil {
		d.t.Fatal(err)
	}
	bob, err := d.operators.Find(d.t.Context(), "bob")
	if err == nil {
		err = d.operators.Approve(d.t.Context(), bob, stored, func() error { return nil })
	}
	for i, to := range states {
		acts, unread := operator.Acts(d.t.Context(), d.book, reference)
		if err == nil && unread == nil {
			_, err = d.companies.SetKYB(d.t.Context(), bob.As(stored, i).After(acts), reference, to, "")
		}
	}
	if err != nil {
		d.t.Fatal(err)
	}
	d.state(proposal, "UNFINISHED")
}

// A proposal that is continued after an interruption goes on if only its own acts have changed the company.
// After an act of somebody else it does not.
func TestAContinuedProposalRestsOnItsOwnActs(t *testing.T) {
	byTwoHidden(t, func(t *testing.T, d *door) {
		for _, c := range []struct {
			name    string
			between func(reference, token string) error
		}{
			{"", func(string, string) error { return nil }},
			{"a key token is claimed", func(reference, token string) error {
				_, _, err := d.companies.ClaimKey(t.Context(), reference, token)
				return err
			}},
			{"other documents are submitted", func(reference, _ string) error {
				_, err := d.companies.SetKYB(t.Context(), operator.Local("carl"), reference, company.Submitted, "another company's papers")
				return err
			}},
		} {
			made := d.ok(d.ada, "POST", "/admin/v1/companies", `{"name":"Acme Ltd"}`)
			reference := made["reference"].(string)
			p := d.propose(d.ada, "/admin/v1/proposals", `{"company":"`+reference+`","acts":[{"operation":"moveKYB","body":{"status":"IN_PROGRESS"}},
				{"operation":"setLimit","body":{"amount":1000.5,"payouts":10}},{"operation":"setLive","body":{"live":true}}]}`)
			d.begin(p, reference, company.InProgress)
			if err := c.between(reference, made["keyToken"].(string)); err != nil {
				t.Fatal(err)
			}
			other, _ := d.company() // acts about another company do not count
			d.ok(d.ada, "POST", other+"/kyb", `{"status":"IN_PROGRESS"}`)
			live := c.name == ""
			if live {
				if status, out, _ := d.send(d.bob, "POST", p+"/approve", ""); status != http.StatusOK {
					t.Errorf("only own acts: %d %v", status, out)
				}
				d.state(p, "APPROVED")
			} else {
				d.no(d.bob, "POST", p+"/approve", "", 400, "has 1 other acts since this proposal did moveKYB")
				d.state(p, "UNFINISHED")
				d.ok(d.ada, "POST", p+"/withdraw", "")
			}
			if is := d.ok(d.ada, "GET", "/admin/v1/companies/"+reference, ""); is["live"] != live {
				t.Errorf("%s: %v", c.name, is)
			}
		}
	})
}

// An act of another thing in between, done by the proposal itself, hides no act of somebody else.
func TestAnActOfTheProposalHidesNoOther(t *testing.T) {
	byTwo(t, func(t *testing.T, d *door) {
		path, _ := d.company()
		reference := strings.TrimPrefix(path, "/admin/v1/companies/")
		p := d.propose(d.ada, "/admin/v1/proposals", `{"company":"`+reference+`","acts":[{"operation":"moveKYB","body":{"status":"IN_PROGRESS"}},
			{"operation":"setRequestLimit","body":{"requestsPerSecond":9}},{"operation":"setLive","body":{"live":true}}]}`)
		d.begin(p, reference, company.InProgress)
		if _, err := d.companies.SetKYB(t.Context(), operator.Local("carl"), reference, company.Submitted, ""); err != nil {
			t.Fatal(err)
		}
		stored, err := d.operators.Proposal(t.Context(), strings.TrimPrefix(p, "/admin/v1/proposals/"))
		if err != nil {
			t.Fatal(err)
		}
		acts, err := operator.Acts(t.Context(), d.book, reference)
		if err == nil { // an approval at the same time
			_, err = d.companies.SetPerSecond(t.Context(), operator.Operator{Name: "bob", Role: operator.Admin}.As(stored, 1).After(acts), reference, 9)
		}
		if err != nil {
			t.Fatal(err)
		}
		d.no(d.bob, "POST", p+"/approve", "", 400, "has 1 other acts since this proposal did moveKYB")
	})
}

// An act of a customer's company and an act of no company cannot wait in one proposal, because nobody could
// approve it.
func TestActsOfTwoScopesAreNotProposedTogether(t *testing.T) {
	byTwo(t, func(t *testing.T, d *door) {
		path, _ := d.company()
		d.customer(path, "c1")
		_, digest := operator.NewKey()
		const erase = `{"operation":"eraseCustomer","id":"c1"}`
		add := `{"operation":"addOperator","body":{"name":"eve","role":"viewer","keyDigest":"` + digest + `"}}`
		for _, acts := range []string{erase + "," + add, add + "," + erase} {
			d.no(d.ada, "POST", "/admin/v1/proposals", `{"acts":[`+acts+`]}`, 400, "addOperator concerns no company")
		}
		p := d.propose(d.ada, "/admin/v1/proposals", `{"acts":[`+erase+`]}`)
		d.ok(d.bob, "POST", p+"/approve", "")
	})
}

// An earlier release has stored such a proposal. The error says why nobody approves or rejects it, and that its
// proposer withdraws it.
func TestAnEarlierProposalOfTwoScopesIsWithdrawn(t *testing.T) {
	byTwo(t, func(t *testing.T, d *door) {
		path, _ := d.company()
		d.customer(path, "c1")
		reference := strings.TrimPrefix(path, "/admin/v1/companies/")
		ada, err := d.operators.Find(t.Context(), "ada")
		if err != nil {
			t.Fatal(err)
		}
		_, digest := operator.NewKey()
		stored, err := d.operators.Propose(t.Context(), ada, reference, []operator.Act{
			{Operation: "eraseCustomer", ID: "c1"},
			{Operation: "addOperator", Body: []byte(`{"name":"eve","role":"viewer","keyDigest":"` + digest + `"}`)},
		})
		if err != nil {
			t.Fatal(err)
		}
		p := "/admin/v1/proposals/" + stored.ID
		why := "addOperator concerns no company, and another act concerns company " + reference + ": ada must withdraw this proposal and make two"
		d.no(d.bob, "POST", p+"/approve", "", 400, why)
		d.no(d.bob, "POST", p+"/reject", `{}`, 400, why)
		d.state(p, "PROPOSED")
		if _, err := d.operators.Find(t.Context(), "eve"); err == nil {
			t.Error("the operator was added")
		}
		d.ok(d.ada, "POST", p+"/withdraw", "")
		d.state(p, "WITHDRAWN")
	})
}

// A new person who has got the name of the operator who made a token cannot make the token again.
func TestANamesakeMakesNoTokenAgain(t *testing.T) {
	byTwoHidden(t, func(t *testing.T, d *door) {
		path, _ := d.company()
		p := d.propose(d.ada, path+"/api-keys", `{}`)
		d.ok(d.bob, "POST", p+"/approve", "")
		const renew = `{"operation":"issueKey"}`
		d.ok(d.bob, "POST", p+"/renew-token", renew)
		d.clock.Advance(time.Minute)
		if err := d.operators.RevokeKey(t.Context(), operator.Local("test"), "bob"); err != nil {
			t.Fatal(err)
		}
		d.no(d.as("bob", operator.Admin), "POST", p+"/renew-token", renew, 400, "was not made by your approval of this proposal")
	})
}

// A token that is made again has the same owner and the same end. So it is no act of somebody else, and the
// proposal that made the token goes on.
func TestATokenMadeAgainInterruptsNothing(t *testing.T) {
	byTwoHidden(t, func(t *testing.T, d *door) {
		for _, others := range []int{0, 1} {
			path, _ := d.company()
			reference := strings.TrimPrefix(path, "/admin/v1/companies/")
			p := d.propose(d.ada, "/admin/v1/proposals", `{"company":"`+reference+`","acts":[{"operation":"issueKey"},
				{"operation":"moveKYB","body":{"status":"IN_PROGRESS"}}]}`)
			d.begin(p, reference)
			stored, err := d.operators.Proposal(t.Context(), strings.TrimPrefix(p, "/admin/v1/proposals/"))
			if err != nil {
				t.Fatal(err)
			}
			bob, err := d.operators.Find(t.Context(), "bob")
			if err != nil {
				t.Fatal(err)
			}
			acts, err := operator.Acts(t.Context(), d.book, reference)
			if err == nil { // the approval, whose response gets lost
				_, err = d.companies.IssueKeyToken(t.Context(), bob.As(stored, 0).After(acts), reference, time.Time{})
			}
			if err != nil {
				t.Fatal(err)
			}
			d.ok(d.bob, "POST", p+"/renew-token", `{"operation":"issueKey"}`)
			if others > 0 {
				if _, err := d.companies.SetKYB(t.Context(), operator.Local("carl"), reference, company.InProgress, ""); err != nil {
					t.Fatal(err)
				}
				d.ok(d.bob, "POST", p+"/renew-token", `{"operation":"issueKey"}`)
				d.no(d.bob, "POST", p+"/approve", "", 400, "has 1 other acts since this proposal did issueKey")
				continue
			}
			token := d.ok(d.bob, "POST", p+"/renew-token", `{"operation":"issueKey"}`)["keyToken"].(string)
			d.ok(d.bob, "POST", p+"/approve", "")
			d.state(p, "APPROVED")
			if _, _, err := d.companies.ClaimKey(t.Context(), reference, token); err != nil {
				t.Error(err)
			}
		}
	})
}
