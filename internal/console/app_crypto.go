package console

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/a-h/templ"

	"github.com/kobo-waas/kobo/internal/fault"
)

func (c *console) cryptoRoutes() map[string]route {
	return map[string]route{
		"GET /app/services/crypto/addresses":  {show: showAddresses, query: []string{"network", "address"}},
		"POST /app/services/crypto/addresses": {show: showAddresses, do: makeAddress},
	}
}

// chainRow is a network on which deposits arrive.
type chainRow struct {
	ID            string `json:"id"`
	Name          string `json:"name"`
	NativeAsset   string `json:"nativeAsset"`
	IsActive      bool   `json:"isActive"`
	Confirmations int64  `json:"confirmations"`
	Tokens        []struct {
		Symbol string `json:"symbol"`
	} `json:"tokens"`
}

// assets are the symbols that arrive on the network.
func (c chainRow) assets() string {
	out := c.NativeAsset
	for _, t := range c.Tokens {
		out += ", " + t.Symbol
	}
	return out
}

// depositAddress is an address of the company.
type depositAddress struct {
	Address string `json:"address"`
	Index   int64  `json:"index"`
	Label   string `json:"label"`
}

// mostAddresses is how many addresses the page shows.
const mostAddresses = 200

// addresses are the networks, and the newest addresses on one of them.
type addresses struct {
	networks []chainRow
	network  chainRow // empty while nobody has chosen one
	rows     []depositAddress
	all      int
	one      bool // the rows are the address that somebody has looked for
}

func showAddresses(v *visit) (view, error) {
	var networks one[[]chainRow]
	if _, err := v.ask("GET", "/api/v1/crypto/networks", nil, &networks); err != nil {
		return view{}, err
	}
	a := addresses{networks: networks.Data}
	if chosen := v.chosen("network"); chosen != "" {
		at := slices.IndexFunc(a.networks, func(c chainRow) bool { return c.ID == chosen })
		if at < 0 {
			return view{}, errNothing
		}
		a.network = a.networks[at]
		var said one[struct {
			Address []depositAddress `json:"address"`
		}]
		if _, err := v.ask("GET", "/api/v1/crypto/pregenerated-address/"+url.PathEscape(chosen), nil, &said); err != nil {
			return view{}, err
		}
		a.rows, a.all = said.Data.Address, len(said.Data.Address)
		if one := v.filter("address", ""); one != "" {
			a.rows = slices.DeleteFunc(a.rows, func(r depositAddress) bool { return !isSameAddress(r.Address, one) })
			a.one = true
		}
		slices.Reverse(a.rows)
		a.rows = a.rows[:min(len(a.rows), mostAddresses)]
	}
	return view{title: "Deposit addresses", item: "services", body: addressesPage(v, a)}, nil
}

// isSameAddress reports whether two texts are one address. An address that begins with 0x has its checksum in the case of its
// letters, and is found without it.
func isSameAddress(a, b string) bool {
	return a == b || strings.HasPrefix(a, "0x") && strings.EqualFold(a, b)
}

func makeAddress(v *visit) (string, error) {
	network, body := v.field("network"), map[string]any{}
	if network == "" {
		return "", fault.New(fault.Invalid, "Choose a network")
	}
	v.some(body, "label")
	_, err := v.ask(http.MethodPost, "/api/v1/crypto/generate-address/"+url.PathEscape(network), body, nil)
	return "/app/services/crypto/addresses?network=" + url.QueryEscape(network), err
}

// movementStates are the states of a movement on a chain.
var movementStates = []choice{{"", "Any"}, depositChoices[1], depositChoices[2], depositChoices[3]}

// showDeposits lists what has moved to and from the company's addresses.
func showDeposits(v *visit) (view, error) {
	type row struct {
		Direction string `json:"direction"`
		Hash      string `json:"txHash"`
		Network   string `json:"networkId"`
		Asset     string `json:"asset"`
		Amount    string `json:"amountDecimal"`
		Status    string `json:"status"`
		CreatedAt string `json:"createdAt"`
	}
	l, err := ownRows[row](v, "/api/v1/crypto/history")
	t := table{
		title: "Crypto", item: "services", tabs: serviceTabs, tab: serviceTabs[2].path,
		next: l.next, above: templ.Join(addressButton(v), ownFilters(v, serviceTabs[2].path, movementStates)),
		head: []string{"Time", "What", "Amount", "State", "Hash"}, nothing: "No deposit has arrived yet.",
	}
	for _, r := range l.rows {
		kind, word := depositChip(r.Status)
		t.rows = append(t.rows, []cell{time_(r.CreatedAt), text(sentence(r.Direction) + ": " + r.Asset + " on " + v.networkName(r.Network)), text(r.Amount), state(kind, word), reference(r.Hash)})
	}
	return t.view(v), err
}
