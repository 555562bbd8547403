package console

import (
	"net/url"
	"slices"
	"strings"

	"github.com/a-h/templ"

	"github.com/kobo-waas/kobo/internal/admin"
	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/operator"
)

var accountField = field{name: "account", label: "Settlement account", kind: "account"}

// changes are what people can change about a company, in the order in which its page lists them.
var changes = []change{
	{
		name: "onboarding", operation: "createProposal", title: "Onboarding", role: operator.Admin,
		help: "Everything that a new company needs, as one proposal. A second person approves it as a whole.",
		fields: []field{
			{name: "account-name", label: "Name of the first settlement account", kind: "text", optional: true, usual: "Main", help: "Empty: opens none."},
			{name: "flat", label: "Fee of a payout", kind: "naira", optional: true, help: "Empty: the fees stay as they are."},
			{name: "limit", label: "Daily limit of payouts", kind: "naira", optional: true, help: "Of the whole company. Empty: the limit stays as it is."},
			{name: "live", label: "Live access", kind: "choice", choices: []choice{{"", "Stays as it is"}, {"on", "Switch on"}}},
			{name: "pin", label: "PIN token", kind: "choice", choices: []choice{{"", "No token"}, {"new", "A token, with which the company sets its PIN"}}, help: "Shown to the person who approves."},
			{name: "key", label: "API key", kind: "choice", choices: []choice{{"", "No new key"}, {"new", "A new key, shown to the person who approves"}}},
		},
		plan: planOnboarding,
	},
	{
		name: "key", operation: "issueKey", title: "New API key", role: operator.Admin,
		help:   "The keys that the company has go on working.",
		fields: []field{{name: "until", label: "Last day", kind: "day", optional: true, help: "In Lagos. Empty: the key does not expire."}},
		plan: func(c typedChange) (plan, error) {
			until, err := c.endOf("until")
			return c.planned("issueKey", "", admin.KeyRequest{ExpiresAt: until}), err
		},
	},
	{
		name: "revoke", operation: "revokeKey", title: "Revoke an API key", role: operator.Support,
		help:   "Requests with a revoked key fail at once. Nobody can undo it.",
		fields: []field{{name: "key", label: "API key", kind: "key"}}, plan: planRevocation,
	},
	{
		name: "account", operation: "createAccount", title: "New settlement account", role: operator.Support,
		fields: []field{{name: "name", label: "Name", kind: "text"}},
		plan: func(c typedChange) (plan, error) {
			return c.planned("createAccount", "", admin.AccountRequest{Name: c.text("name")}), nil
		},
	},
	{
		name: "bank-account", operation: "attachBankAccount", title: "Attach a bank account", role: operator.Finance,
		fields: []field{
			accountField,
			{name: "bank", label: "Bank", kind: "bank"},
			{name: "number", label: "Account number", kind: "text", help: "Ten digits."},
			{name: "holder", label: "Account name", kind: "text", help: "As payers see it."},
		},
		plan: func(c typedChange) (plan, error) {
			id, _, err := c.account()
			return c.planned("attachBankAccount", itoa(id), admin.BankAccountRequest{Bank: c.Get("bank"), AccountNumber: c.text("number"), AccountName: c.text("holder")}), err
		},
	},
	{
		name: "alert", operation: "setAccountAlert", title: "Alert of a low balance", role: operator.Support,
		fields: []field{accountField, {name: "amount", label: "Balance below", kind: "naira", optional: true, help: "Empty: no alert."}},
		plan: func(c typedChange) (plan, error) {
			id, _, err := c.account()
			if err != nil {
				return plan{}, err
			}
			var alert admin.AlertRequest
			if c.text("amount") != "" {
				below, err := c.naira("amount", "The balance")
				if err != nil {
					return plan{}, err
				}
				alert.LowBalance = &below
			}
			return c.planned("setAccountAlert", itoa(id), alert), nil
		},
	},
	{
		name: "adjustment", operation: "createAdjustment", title: "Correct a balance", role: operator.Finance, help: "Corrects the balance of a settlement account by a booking. A second person approves it.",
		fields: []field{
			accountField,
			{name: "direction", label: "Direction", kind: "choice", choices: []choice{{"credit", "Credit: the account gets the money"}, {"debit", "Debit: the account gives the money"}}},
			{name: "amount", label: "Amount", kind: "naira"},
			{name: "reason", label: "Reason", kind: "text", help: "The second person and the audit log read it."},
		},
		plan: func(c typedChange) (plan, error) {
			id, words, err := c.account()
			if err != nil {
				return plan{}, err
			}
			sum, err := c.naira("amount", "The amount")
			if err == nil && sum == 0 {
				err = fault.New(fault.Invalid, "The amount must be more than ₦0.00.")
			}
			return plan{
				sum:  sum,
				body: admin.AdjustmentRequest{SettlementID: id, Amount: sum, Direction: c.Get("direction"), Reason: c.text("reason")},
				says: []string{"When a second person has approved, account " + words + " " + verbOf(c.Get("direction")) + " " + naira(sum) + ", and the company is told.", "Until then nothing moves."},
			}, err
		},
	},
	{
		name: "fees", operation: "setFees", title: "Fees of payouts", role: operator.Finance, tab: "/terms",
		help:   "A fee is the flat part and the percent of the amount, and never more than the last column. The first row begins at 0. No row: payouts are free.",
		fields: []field{{name: "bands", kind: "bands"}}, plan: planFees,
	},
	{
		name: "limit", operation: "setLimit", title: "Daily limit of payouts", role: operator.Finance, tab: "/terms",
		fields: []field{
			{name: "account", label: "Of", kind: "account", optional: true},
			{name: "amount", label: "Amount a day", kind: "naira", optional: true, help: "Empty: no limit of the amount."},
			{name: "payouts", label: "Payouts a day", kind: "count", optional: true, help: "Empty: no limit of their number."},
		},
		plan: planLimit,
	},
	{
		name: "quota", operation: "setQuota", title: "Daily quota", role: operator.Finance, tab: "/terms",
		fields: []field{
			{name: "kind", label: "Of", kind: "choice", choices: quotaKinds},
			{name: "most", label: "At most a day", kind: "count", optional: true, help: "Empty: no limit."},
		},
		plan: func(c typedChange) (plan, error) {
			most, err := c.count("most", "The quota")
			return c.planned("setQuota", "", admin.QuotaRequest{Kind: c.Get("kind"), Most: most}), err
		},
	},
	{
		name: "request-limit", operation: "setRequestLimit", title: "Requests a second", role: operator.Support, tab: "/terms",
		fields: []field{{name: "requests", label: "Requests a second", kind: "count", optional: true, help: "Empty: the limit of the deployment."}},
		plan: func(c typedChange) (plan, error) {
			n, err := c.count("requests", "The limit")
			return c.planned("setRequestLimit", "", admin.RequestLimitRequest{RequestsPerSecond: n}), err
		},
	},
	{
		name: "xpub", operation: "setXpub", title: "Key of deposit addresses", role: operator.Admin, tab: "/terms",
		help: "An extended public key makes the addresses to which the company's customers send crypto. Whoever has its private key has the money.",
		fields: []field{
			{name: "chain", label: "Chain", kind: "choice", choices: []choice{{"evm", words("evm")}, {"tron", "Tron"}, {"bitcoin", "Bitcoin"}}},
			{name: "xpub", label: "Extended public key", kind: "text"},
		},
		plan: func(c typedChange) (plan, error) {
			return c.planned("setXpub", "", admin.XpubRequest{Chain: c.Get("chain"), Xpub: c.text("xpub")}), nil
		},
	},
	{
		name: "pin-reset", operation: "resetPIN", title: "Reset the PIN", role: operator.Admin,
		plan: func(c typedChange) (plan, error) {
			return c.planned("resetPIN", "", struct{}{}), nil
		},
	},
	{
		name: "pin-unlock", operation: "unlockPIN", title: "Unlock the PIN", role: operator.Support,
		plan: func(c typedChange) (plan, error) {
			return c.planned("unlockPIN", "", struct{}{}), nil
		},
	},
}

var quotaKinds = []choice{{"otp", "one-time codes"}, {"settlement-account", "settlement accounts"}, {"crypto-address", "crypto addresses"}, {"virtual-account", "virtual accounts"}}

// label returns the words of a choice.
func label(of []choice, value string) string {
	if i := slices.IndexFunc(of, func(c choice) bool { return c.value == value }); i >= 0 {
		return of[i].label
	}
	return value
}

// planned returns the plan of an operation, with the sentences that the second person reads too.
func (c typedChange) planned(operation, id string, body any) plan {
	return plan{id: id, body: body, says: c.about.says(operation, id, body)}
}

func planFees(c typedChange) (plan, error) {
	bands, err := c.bands()
	return c.planned("setFees", "", admin.FeesRequest{Bands: bands}), err
}

func planLimit(c typedChange) (plan, error) {
	id := int64(0)
	if c.Get("account") != "" {
		var err error
		if id, _, err = c.account(); err != nil {
			return plan{}, err
		}
	}
	sum, err := c.naira("amount", "The amount")
	if err != nil {
		return plan{}, err
	}
	payouts, err := c.count("payouts", "The number of payouts")
	return c.planned("setLimit", "", admin.LimitRequest{SettlementID: id, Amount: sum, Payouts: payouts}), err
}

// planOnboarding proposes in one what a new company needs: its KYB, an account, terms, access and a key.
func planOnboarding(c typedChange) (plan, error) {
	p := admin.ProposalRequest{Company: c.about.Reference}
	var says []string
	add := func(operation string, body any) {
		p.Acts = append(p.Acts, admin.ActRequest{Operation: operation, Body: body})
		says = append(says, c.about.says(operation, "", body)...)
	}
	for _, s := range wayTo(company.KYB(c.about.KybStatus), company.Approved) {
		add("moveKYB", admin.KYBRequest{Status: string(s)})
	}
	if name := c.text("account-name"); name != "" {
		add("createAccount", admin.AccountRequest{Name: name})
	}
	flat, err := c.naira("flat", "The fee")
	if err != nil {
		return plan{}, err
	}
	if c.text("flat") != "" {
		add("setFees", admin.FeesRequest{Bands: []admin.BandRequest{{Flat: flat}}})
	}
	most, err := c.naira("limit", "The limit")
	if err != nil {
		return plan{}, err
	}
	if c.text("limit") != "" {
		add("setLimit", admin.LimitRequest{Amount: most})
	}
	if c.Get("key") == "new" {
		add("issueKey", admin.KeyRequest{})
	}
	if c.Get("pin") == "new" {
		add("resetPIN", nil)
	}
	if c.Get("live") == "on" {
		add("setLive", admin.LiveRequest{Live: true})
	}
	return plan{body: p, says: append(says, "All of it is one proposal. Nothing happens until a second person approves it.")}, nil
}

// wayTo returns the states through which KYB reaches a state.
func wayTo(from, to company.KYB) []company.KYB {
	ways := [][]company.KYB{{from}}
	for i := 0; i < len(ways) && len(ways[i]) <= len(kybWords); i++ {
		last := ways[i][len(ways[i])-1]
		if last == to {
			return ways[i][1:]
		}
		for _, next := range kybWords {
			if company.CheckKYB(last, company.KYB(next)) == nil {
				ways = append(ways, append(slices.Clone(ways[i]), company.KYB(next)))
			}
		}
	}
	return nil
}

// changesFor returns the changes that the person may make at a tab of the company's pages.
func (v *visit) changesFor(tab string) []change {
	return slices.DeleteFunc(slices.Clone(changes), func(c change) bool { return c.tab != tab || !v.may(c.role) })
}

// lower returns a title in the middle of a sentence.
func lower(title string) string {
	if strings.HasPrefix(title, "API") {
		return title
	}
	return strings.ToLower(title[:1]) + title[1:]
}

// bandColumns are the columns of a fee schedule.
var bandColumns = []choice{{"from", "From ₦"}, {"flat", "Flat ₦"}, {"percent", "Percent"}, {"cap", "At most ₦"}}

// typedOr returns what was typed into a field, or its usual value.
func typedOr(v *visit, typed url.Values, f field) string {
	if v.problem == nil && !typed.Has(f.name) {
		return f.usual
	}
	return typed.Get(f.name)
}

// attributes returns how browsers take what is typed into a field.
func (f field) attributes() templ.Attributes {
	out := templ.Attributes{"autocomplete": "off"}
	if f.help != "" {
		out["aria-describedby"] = f.name + "-help"
	}
	switch f.kind {
	case "naira":
		out["inputmode"] = "decimal"
	case "count":
		out["inputmode"] = "numeric"
	case "day":
		out["type"] = "date"
	}
	return out
}

// doWords are the words on the button that makes a change.
func doWords(c change, was admin.Preview) string {
	if was.Waits || c.operation == "createProposal" || c.operation == "createAdjustment" {
		return "Ask a second person"
	}
	return "Confirm: " + lower(c.title)
}

// verbOf returns what a settlement account does in an adjustment.
func verbOf(direction string) string {
	if strings.EqualFold(direction, "debit") {
		return "gives"
	}
	return "gets"
}
