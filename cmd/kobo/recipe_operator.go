package main

const (
	attachedAccount = "settlement.bank_account_attached"
	changedStatus   = "settlement.status_changed"
)

// ofNewcomer are kinds of events that happen to a new company, like all kinds of company.
var ofNewcomer = []string{kybChanged, attachedAccount, changedStatus}

// accountOf returns a recipe in which an operator opens a settlement account for the new company, and
// makes a request about that account.
func accountOf(path string, body func() map[string]any) recipe {
	return func(s *script) {
		operated("settlement-accounts", map[string]any{"name": "Trigger"})(s)
		s.operate("companies/"+s.Reference+"/settlement-accounts/1/"+path, body(), nil)
	}
}

// attachable returns a bank account that is attached to no company yet.
func attachable() map[string]any {
	return map[string]any{"bank": "safehaven", "accountNumber": "9" + digits()[1:], "accountName": "KOBO TRIGGER"}
}

func inactive() map[string]any { return map[string]any{"status": "INACTIVE", "reason": "kobo trigger"} }
