package console

import (
	"net/url"
	"slices"

	"github.com/kobo-waas/kobo/internal/admin"
)

var depositFilters = []string{"company", "state", "network", "asset", "from", "to", "period", "after"}

func (c *console) depositRoutes() map[string]route {
	return map[string]route{"GET /console/payments/crypto": {show: showDepositsOfAll, query: depositFilters}}
}

// paymentTabs are the pages below Payments.
var paymentTabs = []tab{
	{"/console/payments", "Payments"},
	{"/console/payments/crypto", "Crypto deposits"},
}

// depositChoices are the states of a deposit.
var depositChoices = []choice{{"", "Every state"}, {"pending", "Waits for blocks"}, {"completed", "Confirmed"}, {"failed", "Not on the chain"}, {"unconfirmed", "Not confirmed"}}

func showDepositsOfAll(v *visit) (view, error) {
	q := url.Values{}
	for _, name := range depositFilters {
		if value := v.filter(name, ""); value != "" {
			q.Set(name, value)
		}
	}
	q = v.spanned(q)
	var page admin.CryptoDeposits
	_, err := v.call("listCryptoDeposits", admin.Input{Query: q}, &page)
	return view{title: "Crypto deposits", item: "payments", body: depositsPage(v, page), rows: depositKeys(page)}, err
}

// depositKeys returns what names each row.
func depositKeys(page admin.CryptoDeposits) []string {
	return rowKeys(page.Deposits, func(d admin.CryptoDeposit) string { return d.Reference })
}

// networkName returns the name of a network, or its id if this deployment does not list it any more.
func (v *visit) networkName(id string) string {
	for _, n := range v.Chains.ListNetworks() {
		if n.ID == id {
			return n.Name
		}
	}
	return id
}

// networkChoices are the networks of this deployment, to choose one of them.
func (v *visit) networkChoices() []choice {
	out := []choice{{"", "Every network"}}
	for _, n := range v.Chains.ListNetworks() {
		out = append(out, choice{n.ID, n.Name})
	}
	return out
}

// depositChip returns the kind and the word of the chip for the state of a deposit.
func depositChip(status string) (kind, word string) {
	at := slices.IndexFunc(depositChoices, func(c choice) bool { return c.value == status })
	if at < 0 {
		return "idle", sentence(status)
	}
	return map[string]string{"pending": "wait", "completed": "ok", "failed": "failed"}[status], depositChoices[at].label
}
