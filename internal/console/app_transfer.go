package console

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"

	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/money"
)

func (c *console) transferRoutes() map[string]route {
	return map[string]route{
		"GET /app/money/transfer":           {show: showNewTransfer},
		"POST /app/money/transfer":          {show: showNewTransfer, do: checkTransfer},
		"GET /app/money/transfer/{n}":       {show: showTransfer},
		"POST /app/money/transfer/{n}":      {show: showTransfer, do: sendTransfer, proof: newProof},
		"POST /app/money/transfer/accounts": {show: showNewTransfer, do: openAccount},
	}
}

// ownTransfer is a transfer between two accounts of the company that has not been made.
type ownTransfer struct {
	From, To  int64
	Amount    json.Number
	Narration string `json:",omitempty"`
}

func showNewTransfer(v *visit) (view, error) {
	accounts, err := v.settlementAccounts()
	return view{title: "Transfer between own accounts", item: "money", body: newTransferPage(v, accounts)}, err
}

// openAccount opens another settlement account.
func openAccount(v *visit) (string, error) {
	body := map[string]any{}
	v.some(body, "name")
	_, err := v.ask(http.MethodPost, "/api/v1/settlement/accounts", body, nil)
	return "/app/money/transfer", err
}

func checkTransfer(v *visit) (string, error) {
	t := ownTransfer{Narration: v.field("narration")}
	var err error
	if t.Amount, err = payable(v.field("amount")); err != nil {
		return "", err
	}
	if t.From, err = strconv.ParseInt(v.field("fromSettlementId"), 10, 64); err == nil {
		t.To, err = strconv.ParseInt(v.field("toSettlementId"), 10, 64)
	}
	switch {
	case err != nil:
		return "", fault.New(fault.Invalid, "Choose both accounts").Because(err)
	case t.From == t.To:
		return "", fault.New(fault.Invalid, "Choose two different accounts")
	}
	if _, _, err := v.endsOf(t); err != nil {
		return "", err
	}
	return v.review("/app/money/transfer", t)
}

// endsOf returns the accounts of a transfer.
func (v *visit) endsOf(t ownTransfer) (from, to account, err error) {
	all, err := v.settlementAccounts()
	if err != nil {
		return from, to, err
	}
	for id, into := range map[int64]*account{t.From: &from, t.To: &to} {
		at := slices.IndexFunc(all, func(a account) bool { return a.ID == id })
		if at < 0 {
			return from, to, errNothing
		}
		*into = all[at]
	}
	return from, to, nil
}

func showTransfer(v *visit) (view, error) {
	var t ownTransfer
	if err := v.reviewed(&t, "ledger"); err != nil {
		return view{}, err
	}
	from, to, err := v.endsOf(t)
	if err != nil {
		return view{}, err
	}
	p := price{Succeeds: true}
	if p.Amount, err = money.Parse(t.Amount.String()); from.Balance < p.Amount {
		p.Succeeds, p.Refusal = false, "Insufficient balance"
	}
	return view{title: "Confirm the transfer", item: "money", body: transferPage(v, t, from, to, p)}, err
}

func sendTransfer(v *visit) (string, error) {
	v.reviewing()
	var t ownTransfer
	if err := v.reviewed(&t, "ledger"); err != nil {
		return "", err
	}
	body := map[string]any{"fromSettlementId": t.From, "toSettlementId": t.To, "amount": t.Amount}
	if t.Narration != "" {
		body["narration"] = t.Narration
	}
	var sent one[struct {
		Reference string `json:"reference"`
	}]
	_, err := v.ask(http.MethodPost, "/api/v1/settlement/transfer", body, &sent)
	return v.reviewDone("/app/p/"+sent.Data.Reference, err)
}
