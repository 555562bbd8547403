package console

import (
	"strconv"

	"github.com/kobo-waas/kobo/internal/fault"
)

func (c *console) collectionRoutes() map[string]route {
	return map[string]route{
		"GET /app/money/virtual-accounts/new":  {show: showNewVirtualAccount},
		"POST /app/money/virtual-accounts/new": {show: showNewVirtualAccount, do: makeVirtualAccount},
	}
}

func showNewVirtualAccount(v *visit) (view, error) {
	accounts, err := v.settlementAccounts()
	return view{title: "New virtual account", item: "money", body: newVirtualAccountPage(v, accounts)}, err
}

// makeVirtualAccount makes an account for one payment. It leads to the page of the payment.
func makeVirtualAccount(v *visit) (string, error) {
	amount, err := payable(v.field("amount"))
	if err != nil {
		return "", err
	}
	body := map[string]any{"amount": amount}
	v.some(body, "externalReference", "accountName", "amountControl")
	if err := v.someAccount(body); err != nil {
		return "", err
	}
	if text := v.field("minutes"); text != "" {
		minutes, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			return "", fault.New(fault.Invalid, "How long it is open must be a whole number of minutes").Because(err)
		}
		body["validFor"] = minutes * 60
	}
	var made one[struct {
		ID string `json:"virtual_trx_id"`
	}]
	_, err = v.ask("POST", "/api/v1/virtual-account/generate", body, &made)
	return "/app/p/" + made.Data.ID, err
}
