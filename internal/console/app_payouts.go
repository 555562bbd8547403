package console

import (
	"encoding/json"
	"net/url"
	"strconv"

	"github.com/kobo-waas/kobo/internal/admin"
	"github.com/kobo-waas/kobo/internal/api"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/payout"
)

func (c *console) payoutRoutes() map[string]route {
	return map[string]route{
		"GET /app/payouts":                   {show: showPayouts, query: payoutFilterNames},
		"GET /app/payouts.csv":               {download: exporting(exportOwnPayouts), query: payoutFilterNames},
		"GET /app/payouts.xlsx":              {download: exporting(exportOwnPayouts), query: payoutFilterNames},
		"GET /app/payouts/new":               {show: showNewPayout},
		"POST /app/payouts/check":            {show: showNewPayout, do: checkPayout, proof: recentProof},
		"GET /app/payouts/confirm/{n}":       {show: showConfirm},
		"POST /app/payouts/confirm/{n}":      {show: showConfirm, do: sendPayout, proof: newProof},
		"GET /app/payouts/bulk":              {show: showBulks, query: []string{"after"}},
		"GET /app/payouts/bulk/new":          {show: showNewBulk, query: []string{"instead"}},
		"POST /app/payouts/bulk/new":         {show: showNewBulk, do: openBulk, proof: recentProof},
		"GET /app/payouts/bulk/{id}":         {show: showBulk, query: []string{"after", "show"}},
		"POST /app/payouts/bulk/{id}/send":   {show: showBulk, do: confirmBulk, proof: newProof},
		"POST /app/payouts/bulk/{id}/cancel": {show: showBulk, do: cancelBulk},
		"GET /app/payouts/bulk/{id}/bad.csv": {download: exporting(downloadBadLines)},
		"GET /app/p/{reference}":             {show: showThing, query: []string{"lane"}},
	}
}

var payoutTabs = []pageTab{{"Payouts", "/app/payouts"}, {"Bulk payouts", "/app/payouts/bulk"}, {"Kept accounts", keptAt}}

// payoutRow is a payout as pages show it.
type payoutRow struct {
	Reference     string     `json:"reference"`
	Amount        money.Kobo `json:"amount"`
	Fee           money.Kobo `json:"fee"`
	Status        string     `json:"status"`
	AccountName   string     `json:"account_name"`
	AccountNumber string     `json:"account_number"`
	BankCode      string     `json:"bank_code"`
	BankName      *string    `json:"bank_name"`
	Narration     *string    `json:"narration"`
	SessionID     *string    `json:"sessionId"`
	FailureReason *string    `json:"failureReason"`
	OwnReference  *string    `json:"externalReference"`
	CreatedAt     string     `json:"createdAt"`
	CompletedAt   *string    `json:"completedAt"`
}

// payoutStates are the states of a company's payouts on the wire.
var payoutStates = []choice{{"", "Any"}, {"PENDING", "Without an outcome"}, {"SUCCESS", "Paid"}, {"FAILED", "Failed, refunded"}, {"REVERSED", "Reversed, refunded"}}

// stateChipOf returns the chip of a payment of some kind. The word for success is that of the operators' pages: paid, delivered or
// funded.
func stateChipOf(kind, status string) (chip, word string) {
	if status == "SUCCESS" {
		return "ok", sentence(story{Timeline: admin.Timeline{Kind: kind}}.purpose())
	}
	return stateChip(status)
}

func showPayouts(v *visit) (view, error) {
	l, err := ownRows[payoutRow](v, "/api/v1/settlement/payouts")
	if err != nil {
		return view{}, err
	}
	t := table{
		title: "Payouts", item: "payouts", tabs: payoutTabs, tab: payoutTabs[0].path, next: l.next, above: payoutFilters(v),
		nothing: "Nothing has been paid out yet.",
	}
	states := map[string]string{}
	for _, p := range l.rows {
		states[p.Reference] = p.Status
	}
	known, err := v.outcomesOf(states)
	if err != nil {
		return view{}, err
	}
	for _, p := range l.rows {
		kind, word := v.chipNow("payout", p.Reference, p.Status, known)
		t.rows = append(t.rows, []cell{
			time_(p.CreatedAt), text(p.AccountName + ", " + optional(p.BankName)), sum(p.Amount), sum(p.Fee), state(kind, word),
			text(optional(p.Narration)), reference(optional(p.SessionID)), reference(optional(p.OwnReference)), link(ending(p.Reference), "/app/p/"+p.Reference),
		})
	}
	t, err = t.choosing(v, payoutTabs[0].path)
	return t.view(v), err
}

// sources are what a payout needs before it can be typed.
type sources struct {
	accounts []account
	banks    []bank
	kept     []payout.Beneficiary
}

type bank struct {
	Name string `json:"name"`
	Code string `json:"code"`
}

func (v *visit) sources() (s sources, err error) {
	var accounts one[[]account]
	if _, err = v.ask("GET", "/api/v1/settlement/accounts", nil, &accounts); err != nil {
		return s, err
	}
	var banks one[[]bank]
	_, err = v.ask("GET", "/api/v1/settlement/banks", nil, &banks)
	return sources{accounts: accounts.Data, banks: banks.Data}, err
}

func showNewPayout(v *visit) (view, error) {
	s, err := v.sources()
	if err == nil && v.can("sendPayout") {
		s.kept, err = v.Payouts.Beneficiaries(v.Context(), v.who.Company)
	}
	return view{title: "New payout", item: "payouts", body: newPayoutPage(v, s)}, err
}

// draft is a payout whose account has been asked for, and which has not been sent.
type draft struct {
	VerifyID, Name, Account string
	Amount                  json.Number
	Narration, OwnReference string `json:",omitempty"`
	From                    int64  // the settlement account that pays
	Bank                    string // the code of the bank that has the account
	KeptName                string `json:",omitempty"` // the name that the bank had for the account when it was kept
}

// body is the request that sends the payout.
func (d draft) body() map[string]any {
	out := map[string]any{"verify_id": d.VerifyID, "amount": d.Amount}
	if d.Narration != "" {
		out["narration"] = d.Narration
	}
	if d.OwnReference != "" {
		out["externalReference"] = d.OwnReference
	}
	return out
}

// checkPayout asks the bank for the name of the account. Nothing is sent before the person has seen the name.
func checkPayout(v *visit) (string, error) {
	amount, err := payable(v.field("amount"))
	if err != nil {
		return "", err
	}
	from, err := strconv.ParseInt(v.field("fromSettlementId"), 10, 64)
	if err != nil {
		return "", fault.New(fault.Invalid, "Choose the account that pays").Because(err)
	}
	to, err := v.payee()
	if err != nil {
		return "", err
	}
	var named one[struct {
		ID            string `json:"id"`
		AccountName   string `json:"account_name"`
		AccountNumber string `json:"account_number"`
	}]
	_, err = v.ask("POST", "/api/v1/settlement/validate-account", map[string]any{
		"bank_code": to.bank, "account_number": to.account, "fromSettlementId": from, "pin": v.PostForm.Get("pin"),
	}, &named)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(draft{named.Data.ID, named.Data.AccountName, named.Data.AccountNumber, amount, v.field("narration"), v.field("externalReference"), from, to.bank, to.keptName})
	return "/app/payouts/confirm/" + v.answers.keep(v.session, text), err
}

// draft returns the payout of the address, until it is five minutes old. An older one may have been sent.
func (v *visit) draft() (d draft, err error) {
	text, there := v.answers.read(v.session, v.PathValue("n"))
	if !there {
		return d, fault.New(fault.Missing, "This page is too old. Look at the payouts before you ask for the account's name again: if you have pressed Send, the payout is there.")
	}
	return d, json.Unmarshal(text, &d)
}

// preview is what a payout would do.
type preview struct {
	WouldSucceed bool       `json:"wouldSucceed"`
	Refusal      *string    `json:"refusal"`
	Fee          money.Kobo `json:"fee"`
	Total        money.Kobo `json:"total"`
	BalanceAfter money.Kobo `json:"balanceAfter"`
}

// reviewedPayout is what the review of a payout shows.
type reviewedPayout struct {
	draft
	preview
	amount  money.Kobo
	looked  bool          // the preview was asked for
	seenFee string        // the fee that the form sends as seen
	waits   bool          // a second person has to approve it
	waiting *api.Approval // that waits for it already, or nil
	sent    bool          // the payout of the verification exists
	from    string        // the name of the account that pays
	bank    string        // the name of the bank that is paid
	left    string        // what the account may still pay out today
	kept    bool          // the company keeps the account
	double  double        // of this payout
}

func showConfirm(v *visit) (view, error) {
	d, err := v.draft()
	if err != nil {
		return view{}, err
	}
	r := reviewedPayout{draft: d, seenFee: v.field("seenFee")}
	if r.sent, err = v.isSent(d.VerifyID); err != nil {
		return view{}, err
	}
	if r.amount, err = money.Parse(d.Amount.String()); err != nil {
		return view{}, err
	}
	shown := view{title: "Confirm the payout", item: "payouts"}
	if r.sent {
		shown.title, shown.body = "Already sent", confirmPage(v, r)
		return shown, nil
	}
	if r.looked = v.problem == nil || v.isRefused(keptAt) || v.problem.Kind == fault.Conflict; r.looked {
		// The preview is no act, so it does not use the number of the form.
		var p one[preview]
		if _, err := v.ask("POST", "/api/v1/settlement/send-payout?dry_run=true", d.body(), &p); err != nil {
			return view{}, err
		}
		r.preview = p.Data
		r.seenFee = r.Fee.Decimal()
	}
	var c one[api.Company]
	if _, err = v.ask("GET", "/api/v1/company", nil, &c); err != nil {
		return view{}, err
	}
	accounts, err := v.settlementAccounts()
	if err != nil {
		return view{}, err
	}
	r.from = accountNames(accounts).of(d.From)
	banks, err := v.bankBook()
	if err != nil {
		return view{}, err
	}
	r.bank = banks.word(d.Bank)
	r.waits, r.left = payoutWaits(c.Data, r.amount), limitLeft(c.Data, d.From)
	if r.waiting, err = v.waitingFor(d.VerifyID); err != nil {
		return view{}, err
	}
	if r.kept, err = v.isKept(d.Bank, d.Account); err != nil {
		return view{}, err
	}
	r.double, err = v.doubleOf(d.VerifyID, r.amount)
	shown.body = confirmPage(v, r)
	return shown, err
}

// double is a payout of the last seven days to the same account with the same amount.
type double struct {
	reference string  // "" for none
	doubt     *string // what contradicts its outcome, as the API has it
	isOpen    bool    // it has no outcome yet
}

// doubleOf returns the double of a payout that is not sent yet, by the ID of its verification.
func (v *visit) doubleOf(verifyID string, amount money.Kobo) (d double, err error) {
	if d.reference, err = v.Payouts.DoubleOf(v.Context(), v.who.Company, verifyID, amount); err != nil || d.reference == "" {
		return d, err
	}
	var o one[api.Outcome]
	_, err = v.ask("GET", "/api/v1/outcomes/"+url.PathEscape(d.reference), nil, &o)
	d.doubt, d.isOpen = o.Data.Doubt, o.Data.Status == "PENDING"
	return d, err
}

// isSent reports whether the payout of a verification exists. The reference of the payout is that of the verification.
func (v *visit) isSent(verifyID string) (bool, error) {
	_, err := v.ask("GET", "/api/v1/settlement/payout-status/"+url.PathEscape(verifyID), nil, nil)
	if fault.Is(err, fault.Missing) {
		return false, nil
	}
	return err == nil, err
}

// payoutWaits reports whether a payout waits for a second person.
func payoutWaits(c api.Company, k money.Kobo) bool {
	return c.PayoutApproval != nil && k >= *c.PayoutApproval
}

// limitLeft is what an account may still pay out today, in words. A limit is of the company or of one account.
func limitLeft(c api.Company, account int64) string {
	var left *money.Kobo
	for _, l := range c.Limits.Payouts {
		if l.Amount == nil || l.SettlementID != nil && *l.SettlementID != account {
			continue
		}
		if rest := max(*l.Amount-l.UsedAmount, 0); left == nil || rest < *left {
			left = &rest
		}
	}
	return nairaOr(left, "no limit")
}

// sendWord is the label of the button that sends an amount, or asks a second person to approve it.
func sendWord(k money.Kobo, waits bool) string {
	if waits {
		return "Ask a second person to approve " + naira(k)
	}
	return "Send " + naira(k)
}

func sendPayout(v *visit) (string, error) {
	d, err := v.draft()
	if err != nil {
		return "", err
	}
	var sent one[asked]
	seen := v.seen()
	status, err := v.seeing(seen).ask("POST", "/api/v1/settlement/send-payout", d.body(), &sent)
	if isOther(err) {
		return "", v.payoutChanged(d, seen, err)
	}
	if story := storyOf(err); story != "" {
		return story, nil
	}
	if why := fault.Of(err); err != nil && why.Reason() == fault.VerificationUsed {
		return v.URL.Path, nil // the page says that it was sent already: from another tab, or before Back
	}
	return sentPage(status, sent.Data.ID, "/app/p/"+sent.Data.Reference), err
}
