package console

import (
	"net/url"
	"strconv"

	"github.com/kobo-waas/kobo/internal/fault"
)

func (c *console) customerRoutes() map[string]route {
	return map[string]route{
		"GET /app/customers/new":           {show: showNewCustomer},
		"POST /app/customers/new":          {show: showNewCustomer, do: makeCustomer},
		"POST /app/customers/{id}/resend":  {show: showOwnCustomer, do: resendCode},
		"POST /app/customers/{id}/account": {show: showOwnCustomer, do: makeCustomerAccount},
	}
}

func showNewCustomer(v *visit) (view, error) {
	return view{title: "New customer", item: "customers", body: newCustomerPage(v)}, nil
}

// some puts the fields that somebody has filled in into a body. It reports whether there is one.
func (v *visit) some(into map[string]any, names ...string) (any bool) {
	for _, name := range names {
		if text := v.field(name); text != "" {
			into[name], any = text, true
		}
	}
	return any
}

// makeCustomer makes a customer. The BVN is in the request alone: the form that comes back does not have it.
func makeCustomer(v *visit) (string, error) {
	body, address := map[string]any{}, map[string]any{}
	v.some(body, "firstName", "middleName", "lastName", "email", "phoneNumber", "bvn", "dateOfBirth")
	if v.some(address, "line1", "line2", "city", "state", "postalCode") {
		for _, f := range []struct{ name, label string }{{"line1", "the house and street"}, {"city", "the town or city"}, {"state", "the state"}} {
			if address[f.name] == nil {
				return "", fault.Newf(fault.Invalid, `"%s" is missing: an address has %s. Or leave the whole address empty.`, f.name, f.label)
			}
		}
		body["address"] = address
	}
	var made one[struct {
		ID string `json:"id"`
	}]
	_, err := v.ask("POST", "/api/v1/customer/create", body, &made)
	return "/app/customers/" + url.PathEscape(made.Data.ID), err
}

// resendCode sends the customer another one-time code.
func resendCode(v *visit) (string, error) {
	id := v.PathValue("id")
	_, err := v.ask("POST", "/api/v1/customer/resend-otp", map[string]any{"customerId": id}, nil)
	return "/app/customers/" + url.PathEscape(id), err
}

// makeCustomerAccount opens the customer's bank account with the one-time code.
func makeCustomerAccount(v *visit) (string, error) {
	id := v.PathValue("id")
	body := map[string]any{"customerId": id, "otp": v.field("otp")}
	if err := v.someAccount(body); err != nil {
		return "", err
	}
	_, err := v.ask("POST", "/api/v1/customer/generate-account", body, nil)
	return "/app/customers/" + url.PathEscape(id), err
}

// someAccount puts the settlement account of a form into a body, if somebody has chosen one.
func (v *visit) someAccount(into map[string]any) error {
	text := v.field("settlementId")
	if text == "" {
		return nil
	}
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return fault.New(fault.Invalid, "Choose a settlement account").Because(err)
	}
	into["settlementId"] = id
	return nil
}

// settlementAccounts returns the settlement accounts of the company.
func (v *visit) settlementAccounts() ([]account, error) {
	var accounts one[[]account]
	_, err := v.ask("GET", "/api/v1/settlement/accounts", nil, &accounts)
	return accounts.Data, err
}
