package admin_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/admin"
	"github.com/kobo-waas/kobo/internal/chain"
	"github.com/kobo-waas/kobo/internal/operator"
)

// nonsense has bodies that each act of a proposal refuses. The name of a case is an operation, or several
// acts of one proposal. $ACCOUNT, $OTHER and $DIGEST stand for values of the test.
var nonsense = []struct{ operation, id, body, message string }{
	{"moveKYB", "", `{"status":"APPROVED"}`, "KYB cannot move from NOT_STARTED to APPROVED"},
	{"moveKYB", "", `{"status":"NOT_STARTED"}`, "KYB cannot move"},
	{"moveKYB", "", `{"status":"DONE"}`, `"status" must be one of`},
	{"setRequestLimit", "", `{"requestsPerSecond":1000001}`, "must be 0 to 1000000"},
	{"unlockPIN", "", ``, "PIN is not locked"},
	{"issueKey", "", `{"expiresAt":"2029-12-31T23:59:59Z"}`, `"expiresAt" must be in the future`},
	{"issueKey", "", `{"expiresAt":"tomorrow"}`, "ISO 8601"},
	{"revokeKey", "nothing", ``, "API key not found"},
	{"createAccount", "", `{"name":" A "}`, `"name" must have 2 to 100 characters`},
	{"setAccountStatus", "$ACCOUNT", `{"status":"OFF"}`, `"status" must be one of`},
	{"setAccountStatus", "$ACCOUNT", `{"status":"INACTIVE","reason":"` + strings.Repeat("x", 501) + `"}`, "500 characters"},
	{"setAccountStatus", "99", `{"status":"INACTIVE"}`, "Settlement account not found"},
	{"setAccountAlert", "99", `{"lowBalance":5}`, "Settlement account not found"},
	{"setAccountAlert", "one", `{"lowBalance":5}`, "Settlement account not found"},
	{"setAccountAlert", "$ACCOUNT", `{"lowBalance":99999999999999}`, "lowBalance"},
	{"attachBankAccount", "$ACCOUNT", `{"bank":"nobank","accountNumber":"0123456789","accountName":"Acme"}`, `"bank" must be one of [safehaven]`},
	{"attachBankAccount", "$ACCOUNT", `{"bank":"safehaven","accountNumber":"012345678","accountName":"Acme"}`, "exactly 10 digits"},
	{"attachBankAccount", "$ACCOUNT", `{"bank":"safehaven","accountNumber":"0123456789","accountName":"A"}`, "2 to 100 characters"},
	{"attachBankAccount", "$ACCOUNT", `{"bank":"safehaven","accountNumber":"0100000001","accountName":"Acme"}`, "We pay from this bank account"},
	{"attachBankAccount", "$ACCOUNT", `{"bank":"safehaven","accountNumber":"0000000009","accountName":"Acme"}`, "belongs to another company"},
	{"attachBankAccount", "99", `{"bank":"safehaven","accountNumber":"0123456789","accountName":"Acme"}`, "Settlement account not found"},
	{"setXpub", "", `{"chain":"evm","xpub":"xpub"}`, `"xpub"`},
	{"setXpub", "", `{"chain":"dogecoin","xpub":"` + chain.PublicTestKeys[chain.EVM] + `"}`, `"chain" must be one of`},
	{"setXpub", "", `{"chain":"tron","xpub":"` + chain.PublicTestKeys[chain.Tron] + `"}`, "belongs to another company"},
	{"setXpub", "", `{"chain":"bitcoin","xpub":"` + chain.PublicTestKeys[chain.Bitcoin] + `"}`, "the key of the company already"},
	{"setCardAddress", "", `{"line1":" ","city":"Lagos","state":"Lagos"}`, `"line1" is not allowed to be empty`},
	{"setCardAddress", "", `{"line1":"1 Marina","city":"Lagos","state":"` + strings.Repeat("x", 101) + `"}`, `"state" length`},
	{"setFees", "", `{"bands":[{"from":5,"flat":10}]}`, "The first band must begin at 0"},
	{"setFees", "", `{"bands":[{"from":0,"flat":10},{"from":0,"flat":20}]}`, "above the one before"},
	{"setFees", "", `{"bands":[{"from":0,"percent":100.01}]}`, "must be 0 to 100"},
	{"setLimit", "", `{"settlementId":99,"amount":100,"payouts":1}`, "Settlement account not found"},
	{"setLimit", "", `{"amount":99999999999999,"payouts":1}`, "amount"},
	{"setQuota", "", `{"kind":"coffee","most":5}`, `"kind" must be one of`},
	{"eraseCustomer", "nobody", ``, "ustomer not found"},
	{"setDoor", "", `{"closed":true}`, `"reason"`},
	{"setDoor", "", `{"closed":true,"reason":""}`, "reason"},
	{"setDoor", "", `{"closed":false}`, "API access is open"},
	{"addOperator", "", `{"name":"eve","role":"viewer","keyDigest":"00"}`, `"keyDigest" must be the 64 characters`},
	{"addOperator", "", `{"name":"eve","role":"king","keyDigest":"$DIGEST"}`, `"role" must be one of`},
	{"addOperator", "", `{"name":"E","role":"viewer","keyDigest":"$DIGEST"}`, `"name" must be`},
	{"addOperator", "", `{"name":"bob","role":"viewer","keyDigest":"$DIGEST"}`, "bob has a working key already"},
	{"setOperatorRole", "bob", `{"role":"king"}`, `"role" must be one of`},
	{"setOperatorRole", "nobody", `{"role":"viewer"}`, "nobody has no working key"},
	{"inviteOperator", "", `{"name":"eve","role":"viewer","linkDigest":"00"}`, `"linkDigest" must be`},
	{"inviteOperator", "", `{"name":"E","role":"viewer","linkDigest":"$DIGEST"}`, `"name" must be`},
	{"invitePerson", "", `{"name":"eve","role":"owner","linkDigest":"00"}`, `"linkDigest" must be`},
	{"invitePerson", "", `{"name":"E","role":"owner","linkDigest":"$DIGEST"}`, `"name" must be`},
	{"setPersonRole", "nobody", `{"role":"owner"}`, "There is no such person"},
	{"endPerson", "nobody", ``, "There is no such person"},
}

// together has acts that a proposal cannot hold together, although it can hold each of them.
var together = []struct{ company, acts, message string }{
	{"$REFERENCE", `{"operation":"moveKYB","body":{"status":"IN_PROGRESS"}},{"operation":"moveKYB","body":{"status":"APPROVED"}}`, "from IN_PROGRESS to APPROVED"},
	{"$REFERENCE", `{"operation":"issueKey","body":{"token":true}},{"operation":"issueKey","body":{"token":true}}`, "a key token"},
	{"$REFERENCE", `{"operation":"resetPIN"},{"operation":"resetPIN"}`, "a PIN token"},
	{"$REFERENCE", `{"operation":"revokeKey","id":"$KEY"},{"operation":"revokeKey","id":"$KEY"}`, "API key $KEY"},
	{"$REFERENCE", `{"operation":"createAccount","body":{"name":"Second"}},{"operation":"setAccountAlert","id":"3","body":{"lowBalance":5}}`, "Settlement account not found"},
	{"", `{"operation":"addOperator","body":{"name":"eve","role":"viewer","keyDigest":"$DIGEST"}},{"operation":"addOperator","body":{"name":"eva","role":"viewer","keyDigest":"$DIGEST"}}`, "the key"},
}

// What an approval would refuse is refused as a proposal, and nothing is stored. Only setLive takes each
// body that the rules of the contract allow, and resetPIN takes none.
func TestNonsenseIsRefusedWhenItIsProposed(t *testing.T) {
	operations, err := admin.Operations()
	if err != nil {
		t.Fatal(err)
	}
	byTwo(t, func(t *testing.T, d *door) {
		path, account := d.company()
		other, _ := d.company()
		reference, otherReference := strings.TrimPrefix(path, "/admin/v1/companies/"), strings.TrimPrefix(other, "/admin/v1/companies/")
		local := operator.Local("test")
		for _, k := range []struct {
			company string
			kind    chain.Kind
		}{{otherReference, chain.Tron}, {reference, chain.Bitcoin}} {
			if _, _, err := d.crypto.SetKey(t.Context(), local, k.company, k.kind, chain.PublicTestKeys[k.kind]); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := d.settlements.Attach(t.Context(), local, otherReference, 1, "safehaven", "0000000009", "Other"); err != nil {
			t.Fatal(err)
		}
		key := d.ok(d.ada, "GET", path, "")["apiKeys"].([]any)[0].(map[string]any)["id"].(string)
		_, digest := operator.NewKey()
		fill := strings.NewReplacer("$ACCOUNT", account, "$DIGEST", digest, "$REFERENCE", reference, "$KEY", key).Replace
		refuse := func(what, method, at, body, message string) {
			t.Helper()
			status, out, _ := d.send(d.ada, method, at, body)
			if text := fmt.Sprint(out["message"], out["details"]); status != 400 && status != 404 || !strings.Contains(text, message) {
				t.Errorf("%s %s: %d %s; want %s", what, body, status, text, message)
			}
		}
		tried := map[string]bool{"setLive": true, "resetPIN": true}
		for _, c := range nonsense {
			tried[c.operation] = true
			for route, op := range operations {
				if op.ID != c.operation {
					continue
				}
				method, at, _ := strings.Cut(route, " ")
				refuse("alone", method, strings.NewReplacer("{reference}", reference, "{id}", fill(c.id)).Replace(at), fill(c.body), c.message)
				of := reference
				if !strings.Contains(at, "{reference}") {
					of = ""
				}
				act := `{"operation":"` + c.operation + `"`
				if c.id != "" {
					act += `,"id":"` + c.id + `"`
				}
				if c.body != "" {
					act += `,"body":` + c.body
				}
				refuse("in a proposal", "POST", "/admin/v1/proposals", fill(`{"company":"`+of+`","acts":[`+act+`}]}`), c.message)
			}
		}
		for route, op := range operations {
			if admin.CanBeProposed(route, op) && !tried[op.ID] {
				t.Errorf("%s has no case", op.ID)
			}
		}
		for _, c := range together {
			refuse("together", "POST", "/admin/v1/proposals", fill(`{"company":"`+c.company+`","acts":[`+c.acts+`]}`), fill(c.message))
		}
		if rows := d.ok(d.ada, "GET", "/admin/v1/proposals", "")["data"].([]any); len(rows) != 0 {
			t.Errorf("stored: %v", rows)
		}
		// Later acts may name what earlier acts open.
		p := d.propose(d.ada, "/admin/v1/proposals", `{"company":"`+reference+`","acts":[{"operation":"createAccount","body":{"name":"Second"}},
			{"operation":"setAccountAlert","id":"2","body":{"lowBalance":5}},{"operation":"setLimit","body":{"settlementId":2,"amount":5,"payouts":1}}]}`)
		if status, out, _ := d.send(d.bob, "POST", p+"/approve", ""); status != 200 {
			t.Errorf("%d %v", status, out)
		}
	})
}
