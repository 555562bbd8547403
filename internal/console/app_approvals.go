package console

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/kobo-waas/kobo/internal/api"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/person"
)

func showApprovals(v *visit) (view, error) {
	l, err := ownRows[api.Approval](v, "/api/v1/company/approvals")
	if err != nil {
		return view{}, err
	}
	var company one[api.Company]
	_, err = v.ask("GET", "/api/v1/company", nil, &company)
	return view{title: "Approvals", item: "settings", body: approvalsPage(v, l, company.Data)}, err
}

// approval returns one approval of the company, however old.
func (v *visit) approval(id string) (api.Approval, error) {
	var a one[api.Approval]
	_, err := v.ask("GET", "/api/v1/company/approvals/"+url.PathEscape(id), nil, &a)
	return a.Data, err
}

// waitingFor returns the approval that waits for a payout or a bulk payout, or nil. It looks through all that wait, as waitingBulks.
func (v *visit) waitingFor(id string) (*api.Approval, error) {
	isIt := func(a api.Approval) bool {
		return a.Payout != nil && a.Payout.Reference == id || a.BulkPayout != nil && a.BulkPayout.BulkID == id
	}
	var some []string
	if err := eachRow(v, "/api/v1/company/approvals?waiting=true&", func(a api.Approval) (enough bool) {
		if isIt(a) {
			some = append(some, a.ID)
		}
		return false
	}); err != nil {
		return nil, err
	}
	for _, one := range some {
		// Nobody can approve an outdated one any more, so the person may ask again.
		if a, err := v.approval(one); err != nil || a.Outdated == nil {
			return &a, err
		}
	}
	return nil, nil
}

// waitsWords says for whom something waits.
func (v *visit) waitsWords(a api.Approval) string {
	switch {
	case v.isOwnRequest(a):
		return "You have asked for this. It waits for " + decidersOf(a) + " other than you."
	case v.decides(a):
		return authorWords(a.AskedBy) + " has asked for this. It waits for you, or for " + decidersOf(a) + "."
	}
	return authorWords(a.AskedBy) + " has asked for this. It waits for " + decidersOf(a) + "."
}

func showApproval(v *visit) (view, error) {
	a, err := v.approval(v.PathValue("id"))
	if err != nil {
		return view{}, err
	}
	if err := v.nameBanks(a.Changes); err != nil {
		return view{}, err
	}
	m, err := v.moneyOf(a)
	return view{title: "Approval", item: "settings", body: approvalPage(v, a, m)}, err
}

// nameBanks puts the name of the bank beside each code of a bank that has changed.
func (v *visit) nameBanks(changes []api.ApprovalChange) error {
	for i, c := range changes {
		if c.Field != "bankCode" {
			continue
		}
		banks, err := v.bankBook()
		if err != nil {
			return err
		}
		changes[i].Then, changes[i].Now = banks.wordWithCode(c.Then), banks.wordWithCode(c.Now)
	}
	return nil
}

// waitingMoney is what an approval would take from an account.
type waitingMoney struct {
	from                      account
	amount, fee, requiredFrom money.Kobo
	double                    double     // of a payout that can still be approved
	doubles, doubtful, bad    int        // of the lines of a bulk payout
	first                     []bulkLine // the good lines at its beginning
	isOld                     bool       // the approval is of an earlier version, which did not record the account and the fee
}

// firstLines is how many lines of a bulk payout its approval shows.
const firstLines = 5

// moneyOf returns the money about which people decide, or nil if the approval is about something else.
func (v *visit) moneyOf(a api.Approval) (*waitingMoney, error) {
	var m waitingMoney
	var id *int64
	var fee *money.Kobo
	switch {
	case a.Payout != nil:
		m.amount, m.requiredFrom, id, fee = a.Payout.Amount, a.Payout.RequiredFrom, a.Payout.FromSettlementID, a.Payout.Fee
	case a.BulkPayout != nil:
		m.amount, m.requiredFrom, id, fee = a.BulkPayout.Amount, a.BulkPayout.RequiredFrom, a.BulkPayout.FromSettlementID, a.BulkPayout.Fee
	default:
		return nil, nil
	}
	if a.Payout != nil && a.State == "WAITING" && a.Outdated == nil {
		var err error
		if m.double, err = v.doubleOf(a.Payout.Reference, a.Payout.Amount); err != nil {
			return nil, err
		}
	}
	if a.BulkPayout != nil {
		b, err := v.bulkOf(a.BulkPayout.BulkID)
		if err != nil {
			return nil, err
		}
		good := b.only("good")
		m.bad, m.first = b.Bad, good[:min(len(good), firstLines)]
		for _, l := range b.only("doubles") {
			if m.doubles++; b.isDoubtful(l) {
				m.doubtful++
			}
		}
	}
	if m.isOld = id == nil || fee == nil; m.isOld {
		return &m, nil
	}
	m.fee = *fee
	var accounts one[[]account]
	if _, err := v.ask("GET", "/api/v1/settlement/accounts", nil, &accounts); err != nil {
		return nil, err
	}
	at := slices.IndexFunc(accounts.Data, func(one account) bool { return one.ID == *id })
	if at < 0 {
		return nil, errNothing
	}
	m.from = accounts.Data[at]
	return &m, nil
}

// linesWord says how many lines of a bulk payout the page shows, and how many there are.
func (m waitingMoney) linesWord(lines int) string {
	if len(m.first) < lines {
		return fmt.Sprintf("The first %d of %s", len(m.first), count(lines, "line", "lines"))
	}
	return "All that is sent"
}

// sumWords says what all lines of a bulk payout cost.
func (m waitingMoney) sumWords(lines int) string {
	out := count(lines, "line", "lines") + ": " + naira(m.amount) + " in all"
	if m.isOld {
		return out + "."
	}
	return out + ", and " + naira(m.fee) + " of fees."
}

// approveRequest approves, and leads to what has begun: the payout, the bulk payout or the new API key.
func approveRequest(v *visit) (string, error) {
	var said one[api.DecidedApproval]
	_, err := v.ask("POST", "/api/v1/company/approvals/"+url.PathEscape(v.PathValue("id"))+"/approve", nil, &said)
	done := said.Data
	switch {
	case err != nil:
	case done.APIKey != nil:
		return v.keep(newKey{optional(done.APIKey.Name), done.APIKey.APIKey})
	case done.Approval.Payout != nil:
		return "/app/p/" + done.Approval.Payout.Reference, nil
	case done.Approval.BulkPayout != nil:
		return "/app/payouts/bulk/" + done.Approval.BulkPayout.BulkID, nil
	}
	return "/app/approvals/" + url.PathEscape(v.PathValue("id")), stateInWords(err)
}

func rejectRequest(v *visit) (string, error) {
	_, err := v.ask("POST", "/api/v1/company/approvals/"+url.PathEscape(v.PathValue("id"))+"/reject", nil, nil)
	return "/app/approvals/" + url.PathEscape(v.PathValue("id")), err
}

// isOwnRequest reports whether the person asked for what waits.
func (v *visit) isOwnRequest(a api.Approval) bool { return a.AskedBy == "person:"+v.who.Name }

// approvalWords says what waits.
func approvalWords(a api.Approval) string {
	switch a.Kind {
	case "ISSUE_API_KEY":
		if name := optional(a.Name); name != "" {
			return "New API key “" + name + "”"
		}
		return "New API key"
	case "REVOKE_API_KEY":
		return "Revoke the API key " + ending(optional(a.APIKeyID))
	}
	if p := a.Payout; p != nil {
		return naira(p.Amount) + " to " + p.AccountName
	}
	if b := a.BulkPayout; b != nil {
		return "Bulk payout of " + count(int(b.Lines), "line", "lines") + ", " + naira(b.Amount)
	}
	if r := a.PayoutApproval; r != nil && r.Amount != nil {
		return "Two people for payouts only from " + naira(*r.Amount) + " on"
	}
	if a.PayoutApproval != nil {
		return "Require two people for payouts no longer"
	}
	return "Require two people no longer"
}

// decides reports whether people with the role of the person decide about an approval.
func (v *visit) decides(a api.Approval) bool { return api.MayDecide(v.who.Role, a.Kind) }

// decidersOf says who decides about an approval.
func decidersOf(a api.Approval) string {
	if api.MayDecide(person.Finance, a.Kind) {
		return "an owner or a person in the role finance"
	}
	return "an owner or a developer"
}

// outdatedWords says why nobody can approve what waits any more.
func outdatedWords(a api.Approval) string {
	why := fault.New(fault.Refused, optional(a.Outdated))
	if a.BulkPayout != nil {
		why = fault.Of(stateInWords(why.With(fault.BulkState)))
	}
	return inLagos(why.Message)
}

// changeNames are the names of the values on which an approval rests.
var changeNames = map[string]string{
	"accountNumber": "Account number", "accountName": "Name of the account", "bankCode": "Bank",
	"fromSettlementId": "Settlement account", "lines": "Lines", "amount": "Amount", "fee": "Fee",
}

// changeWords returns the name of a value that has changed, the value then, and the value now.
func changeWords(c api.ApprovalChange) (name, then, now string) {
	then, now = c.Then, c.Now
	if c.Field == "amount" || c.Field == "fee" {
		then, now = asNaira(then), asNaira(now)
	}
	return cmp.Or(changeNames[c.Field], c.Field), then, now
}

// asNaira shows an amount with two decimals as pages do. It returns another text as it is.
func asNaira(decimal string) string {
	k, err := money.Parse(decimal)
	if err != nil {
		return decimal
	}
	return naira(k)
}

// approveWord is the label of the button that approves.
func approveWord(a api.Approval) string {
	if a.Payout != nil || a.BulkPayout != nil {
		return "Approve and send"
	}
	return "Approve"
}

func setPayoutRule(v *visit) (string, error) {
	body := map[string]any{"amount": nil}
	if v.field("end") == "" {
		amount, err := number(v.field("amount"))
		if err != nil {
			return "", err
		}
		body["amount"] = amount
	}
	_, err := v.ask("POST", "/api/v1/company/payout-approval", body, nil)
	return "/app/approvals", err
}

// asked is the answer to a request that a second person may have to approve: a payout, or an approval.
type asked struct {
	Reference string `json:"reference"`
	ID        string `json:"id"`
}

// sentPage returns the page of an approval if the answer is one.
func sentPage(status int, id, otherwise string) string {
	if status == http.StatusAccepted {
		return "/app/approvals/" + id
	}
	return otherwise
}

// approvalChip returns the chip of an approval's state.
func approvalChip(state string) (kind, word string) {
	switch state {
	case "WAITING":
		return "propose", "Waiting for approval"
	case "APPROVED":
		return "ok", "Approved"
	}
	return "idle", sentence(words(state))
}

// authorWords names who asked or decided.
func authorWords(by string) string {
	if name, isPerson := cutPrefix(by, "person:"); isPerson {
		return name
	}
	if key, isKey := cutPrefix(by, "key:"); isKey {
		return "a program with the API key " + ending(key)
	}
	return by
}
