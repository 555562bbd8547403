package apptest_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/operator"
)

// thief is an operator who tries everything that the admin API offers, to move a company's money.
type thief struct {
	t         *testing.T
	p         *apptest.Program
	key       string
	card      string            // a card of the victim
	customer  string            // a customer of the victim, without a card
	bundle    apptest.Bundle    // what the thief buys
	digest    string            // of a key for a second name of the thief
	seen      strings.Builder   // all responses so far
	moved     []string          // the requests that moved money
	allowed   map[string]bool   // the operations that were not refused
	companies map[string]string // the names of the two companies by reference
}

// wishes are the bodies with which the thief calls each operation. The operations of one path run
// in the order of this list.
var wishes = map[string][]string{
	"search":            {`{"text":"{reference}"}`},
	"reveal":            {`{"company":"{reference}","customerId":"1","reason":"INVESTIGATION"}`},
	"revealBeneficiary": {`{"reason":"INVESTIGATION"}`},
	"createCompany":     {`{"name":"Thief Ltd"}`},
	"moveKYB":           {`{"status":"IN_PROGRESS"}`, `{"status":"SUBMITTED"}`, `{"status":"APPROVED"}`},
	"setLive":           {`{"live":true}`},
	"askOutcome":        {``},
	"setRequestLimit":   {`{"requestsPerSecond":1000}`},
	"setPIN":            {`{"pin":"0042"}`},
	"unlockPIN":         {``},
	"resetPIN":          {``},
	"issueKey":          {``},
	"revokeKey":         {``},
	"createAccount":     {`{"name":"Another"}`},
	"setAccountStatus":  {`{"status":"ACTIVE"}`},
	"setAccountAlert":   {`{"lowBalance":null}`},
	"attachBankAccount": {`{"bank":"safehaven","accountNumber":"0123456789","accountName":"Thief Ltd"}`},
	"setXpub":           {`{"chain":"evm","xpub":"xpub"}`},
	"setCardAddress":    {`{"line1":"1 Marina","city":"Lagos","state":"Lagos"}`},
	"setFees":           {`{"bands":[]}`},
	"setLimit":          {`{"amount":0,"payouts":0}`},
	"setQuota":          {`{"kind":"otp","most":0}`},
	"createProductPair": {`{"first":"1","second":"2"}`},
	"deleteProductPair": {``},
	"createAdjustment":  {`{"settlementId":1,"amount":5000,"direction":"credit","reason":"a friend of mine"}`},
	"approveAdjustment": {``},
	"rejectAdjustment":  {`{"note":"nothing"}`},
	"resolveCase":       {`{"outcome":"dismissed","note":"nothing"}`},
	"approveCase":       {`{"outcome":"dismissed"}`},
	"createProposal": {
		`{"company":"{reference}","acts":[{"operation":"issueKey"}]}`,
		`{"company":"{reference}","acts":[{"operation":"setLimit","body":{"amount":0,"payouts":0}}]}`,
	},
	"approveProposal":    {``},
	"renewToken":         {`{"operation":"issueKey"}`, `{"operation":"resetPIN"}`},
	"rejectProposal":     {``},
	"withdrawProposal":   nil, // the test still needs the proposals
	"eraseCustomer":      {``},
	"setDoor":            {`{"closed":false}`},
	"runJob":             {``},
	"replayNotification": {``},
	"resendDelivery":     {`{"company":"{reference}"}`},
	"replayWebhook":      {`{"company":"{reference}","from":1,"to":1000}`},
	"addOperator":        {`{"name":"accomplice","role":"admin","keyDigest":"{digest}"}`},
	"setOperatorRole":    {`{"role":"admin"}`},
	"inviteOperator":     {`{"name":"guest","role":"admin","linkDigest":"{digest}"}`},
	"removeOperator":     nil, // the test still needs the operators
	"invitePerson":       {`{"name":"guest","role":"owner","linkDigest":"{digest}"}`},
	"setPersonRole":      {`{"role":"owner"}`},
	"endPerson":          {``},
}

// ask sends a request to the admin API and remembers the response.
func (f *thief) ask(key, method, path, body string) apptest.Answer {
	f.t.Helper()
	a, err := f.p.Raw(f.t.Context(), method, path, body, "Authorization", "Bearer "+key)
	if err != nil {
		f.t.Fatal(err)
	}
	f.seen.WriteString(a.Body + "\n")
	return a
}

// ids returns the values of a field in all responses so far.
func (f *thief) ids(field string) []string {
	out := map[string]bool{"1": true}
	for _, m := range regexp.MustCompile(`"`+field+`":"([^"]+)"`).FindAllStringSubmatch(f.seen.String(), -1) {
		out[m[1]] = true
	}
	return slices.Sorted(maps.Keys(out))
}

// everything calls every operation of the admin API, for both companies and for each known id.
func (f *thief) everything() {
	f.t.Helper()
	a, err := f.p.Raw(f.t.Context(), http.MethodGet, "/admin/openapi.json", nil)
	var doc struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err != nil || json.Unmarshal([]byte(a.Body), &doc) != nil {
		f.t.Fatal(a, err)
	}
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		for method, raw := range doc.Paths[path] {
			var op struct{ OperationID string }
			if method == "parameters" || json.Unmarshal(raw, &op) != nil {
				continue
			}
			bodies, known := wishes[op.OperationID]
			if method == "get" {
				bodies, known = []string{``}, true
			}
			if !known {
				f.t.Errorf("no test says how a thief would use %s", op.OperationID)
			}
			for _, body := range bodies {
				f.call(op.OperationID, strings.ToUpper(method), path, body)
			}
		}
	}
}

// call sends a request for both companies, and for each id that can be meant.
func (f *thief) call(operation, method, path, body string) {
	f.t.Helper()
	ids := []string{"1"}
	switch {
	case strings.Contains(path, "/proposals/{id}"):
		ids = f.ids("proposalId")
	case strings.Contains(path, "/operators/{id}"):
		ids = []string{"thief", "accomplice"}
	case strings.Contains(path, "/customers/{id}"):
		ids = []string{f.customer}
	case strings.Contains(path, "/adjustments/{id}"):
		ids = f.ids("id")
	}
	for reference := range f.companies {
		for _, id := range ids {
			fill := strings.NewReplacer("{reference}", reference, "{id}", id, "{digest}", f.digest)
			if a := f.ask(f.key, method, fill.Replace(path), fill.Replace(body)); a.Status < 300 {
				f.allowed[operation] = true
			}
			if !strings.Contains(path+body, "{reference}") {
				break
			}
		}
	}
}

// steal tries to move money with every API key and every token that any response has shown.
func (f *thief) steal() {
	f.t.Helper()
	for reference := range f.companies {
		for _, token := range f.ids("keyToken") {
			f.ask("", http.MethodPost, "/api/v1/auth/claim-key/"+reference, `{"keyToken":"`+token+`"}`)
		}
		for _, key := range f.ids("apiKey") {
			c := f.p.As(reference, key, 1)
			tokens, _, err := c.Tokens(f.t.Context())
			if err != nil {
				f.t.Fatal(err)
			}
			if tokens.AccessToken != "" {
				f.spend(c, reference)
			}
		}
	}
}

// spend tries a purchase, a card funding and a payout of a company.
func (f *thief) spend(c *apptest.Client, reference string) {
	f.t.Helper()
	for _, token := range f.ids("pinToken") {
		c.Do(http.MethodPost, "/api/v1/company/pin", map[string]string{"pinToken": token, "pin": "0042"})
	}
	try := func(what string, a apptest.Answer) {
		if a.Status == http.StatusOK {
			f.moved = append(f.moved, f.companies[reference]+": "+what)
		}
	}
	try("purchase", c.Buy(c.Order(f.bundle, "theft-"+reference, "10")))
	try("card", c.Do(http.MethodPost, "/api/v1/card/fund-card", map[string]any{"cardId": f.card, "amount": 2000}))
	var v struct{ Data struct{ ID string } }
	for _, pin := range []string{"0042", "1111"} {
		a := c.Do(http.MethodPost, "/api/v1/settlement/validate-account", map[string]any{
			"bank_code": "000014", "account_number": "0123456710", "pin": pin, "fromSettlementId": 1,
		})
		if a.Status == http.StatusOK {
			a.Into(f.t, &v)
			try("payout", send(c, v.Data.ID, 1000))
		}
	}
}

// With four eyes, no operator of any role alone can make money leave. The same attempts move money as
// soon as a second operator approves them.
func TestNoOperatorDrainsACompanyAlone(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		p := apptest.Start(t, dialect, func(c *app.Config) { c.FourEyes = "on" })
		card, customer, bundle := cardOf(t, p.Client), customerOf(t, p.Client, "22244444444"), p.Bundle()
		before := p.Balance(p.SettlementID)
		for _, role := range operator.Roles() {
			t.Run(string(role), func(t *testing.T) {
				f := &thief{t: t, p: p, card: card, customer: customer, bundle: bundle, allowed: map[string]bool{}, companies: map[string]string{p.Reference: "the victim"}}
				second, digest := operator.NewKey()
				f.digest = digest
				key, mine := operator.NewKey()
				if _, err := p.App.Operators.Add(t.Context(), tester, "thief", role, mine); err != nil {
					t.Fatal(err)
				}
				defer func() {
					if err := p.App.Operators.RevokeKey(t.Context(), tester, "thief"); err != nil {
						t.Error(err)
					}
				}()
				f.key = key.Reveal()
				var made struct{ Data struct{ Reference string } }
				if a := f.ask(f.key, http.MethodPost, "/admin/v1/companies", wishes["createCompany"][0]); a.Status == http.StatusOK {
					a.Into(t, &made)
					f.companies[made.Data.Reference] = "the thief"
				}
				for range 2 {
					f.everything()
				}
				f.ask(second.Reveal(), http.MethodGet, "/admin/v1/operators", "")
				f.steal()
				if len(f.moved) > 0 {
					t.Errorf("%s alone moved money: %v; allowed: %v", role, f.moved, slices.Sorted(maps.Keys(f.allowed)))
				}
				if got := p.Balance(p.SettlementID); got != before {
					t.Errorf("the balance is %s, not %s", got, before)
				}
				if role != operator.Admin {
					return
				}
				for _, id := range f.ids("proposalId") {
					f.ask(p.AdminKey, http.MethodPost, "/admin/v1/proposals/"+id+"/approve", "")
				}
				f.steal()
				if all := fmt.Sprint(f.moved); !strings.Contains(all, "the victim: purchase") || !strings.Contains(all, "the victim: payout") || !strings.Contains(all, "the victim: card") {
					t.Errorf("with a second operator, what moved is %v", f.moved)
				}
			})
		}
	})
}
