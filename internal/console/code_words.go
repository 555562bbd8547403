package console

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// codeNames are the codes of the API whose words are not those of the code itself. Pages of both sides read them by words.
var codeNames = map[string]string{
	// States of a company's verification.
	"SUBMITTED": "being checked", "CHANGES_REQUESTED": "changes are needed",
	// Reasons of refusals.
	"invalid_request": "a value is wrong", "not_found": "nothing has this id", "reference_used": "the own reference is used differently", "request_in_progress": "the same request runs now",
	"idempotency_key_mismatch": "another request has this idempotency key", "idempotency_key_used": "an earlier request has this idempotency key", "rate_limited": "too many requests in a short time",
	"quota_reached": "the quota of the day is used up", "credentials_missing": "no valid credentials", "token_invalid": "the access token is wrong or has expired",
	"refresh_token_invalid": "the refresh token is wrong or has expired", "api_key_invalid": "the API key is wrong or revoked", "last_api_key": "it is the last API key",
	"role_missing": "the role does not permit it", "person_needed": "only a person can do this", "second_person_needed": "a second person must decide", "approval_state": "the approval does not wait any more",
	"api_key_expired": "the API key has expired", "one_time_token_invalid": "the one-time token is wrong or used", "kyb_required": "the verification is not complete", "company_deactivated": "the company is switched off",
	"pin_invalid": "the PIN is wrong", "pin_not_set": "no PIN is set", "pin_locked": "the PIN is locked", "account_closed": "the account is closed to debits", "payout_limit_reached": "the limit of payouts is reached",
	"amount_out_of_range": "the amount is too small or too large", "product_unavailable": "the product is not for sale", "recipient_not_found": "the recipient does not exist", "recipient_changed": "the recipient has another name now",
	"verification_not_found": "no such verification", "verification_used": "the verification is used", "verification_expired": "the verification is too old", "bulk_state": "the bulk payout is in another state",
	"being_confirmed": "no outcome yet, do not send it again", "declined": "the provider refused it", "not_verified": "the one-time code was not given", "otp_cooldown": "too soon after the last one-time code",
	"otp_attempts_used": "no one-time code is left", "otp_not_sent": "the one-time code was not sent", "otp_invalid": "the one-time code is wrong", "name_mismatch": "the name differs from that of the BVN",
	"session_closed": "no one-time code is expected", "address_missing": "an address is missing", "card_terminated": "the card has ended", "network_inactive": "the network is off",
	"url_not_allowed": "the address is not permitted", "receipt_not_ready": "the receipt is not ready yet", "service_unavailable": "not available, nothing was done",
	"outcome_unknown": "no outcome is known, do not send it again", "internal_error": "an error of Kobo", "unstated": "no reason is known",
	// Kinds of jobs.
	"operation.resolve": "ask for an outcome", "operation.recheck": "look at a failure again", "operation.attempt": "ask the next biller", "customer.resolve": "open a customer's account",
	"corporate.resolve": "open a company's account", "collection.resolve": "open a virtual account", "collection.expire": "end a virtual account", "card.resolve": "make a card", "card.change": "change a card",
	"card.return": "bring a card's money back", "crypto.watch": "watch an address", "crypto.confirm": "confirm a deposit", "payout.bulk_check": "check a bulk payout", "payout.bulk_send": "send a bulk payout",
	"settlement.assign": "assign a credit", "inbox.work": "read a notification", "inbox.sweep": "look for credits", "inbox.clear": "delete old notifications", "webhook.clear": "delete old deliveries",
	"request.clear": "delete old requests", "idempotency.clear": "delete old idempotency keys", "keyring.revoke": "retire keys", "evidence.sign": "sign the proof", "report.walk": "check the ledger",
	"report.hours": "count payments by the hour", "report.revenue": "add up fees", "app.reconcile": "compare banks with the ledger", "erasure.complete": "erase personal data",
	// Networks that share a key of deposit addresses.
	"evm": "Ethereum and compatible networks",
}

// words returns a code in words: UNKNOWN_ACCOUNT becomes "unknown account".
func words(code string) string {
	if name, known := codeNames[code]; known {
		return name
	}
	return strings.ToLower(strings.NewReplacer("_", " ", ".", " ").Replace(code))
}

// providerNames are the names of providers as people say them.
var providerNames = map[string]string{"safehaven": "Safe Haven", "vtpass": "VTpass", "sudo": "Sudo Africa", "tatum": "Tatum"}

// providerName returns the name of a provider as people say it.
func providerName(code string) string {
	if name, known := providerNames[code]; known {
		return name
	}
	return sentence(code)
}

// providerChoices are the configured providers, and the one of the address, to choose one of them.
func (v *visit) providerChoices() []choice {
	codes := slices.Collect(maps.Keys(v.Providers))
	if of := v.filter("provider", ""); of != "" && !slices.Contains(codes, of) {
		codes = append(codes, of)
	}
	return append([]choice{{"", "Every provider"}}, providerLabels(codes)...)
}

// bankChoices are the configured banks, to choose one of them.
func (v *visit) bankChoices() []choice {
	return providerLabels(slices.DeleteFunc(slices.Collect(maps.Keys(v.Providers)), func(code string) bool {
		return !slices.Contains(v.Providers[code], "bank")
	}))
}

func providerLabels(codes []string) (out []choice) {
	for _, code := range slices.Sorted(slices.Values(codes)) {
		out = append(out, choice{code, providerName(code)})
	}
	return out
}

// keySourceWord says who has set a key of deposit addresses.
func keySourceWord(source string) string {
	switch source {
	case "house":
		return "This deployment"
	case "operator":
		return "An operator"
	}
	return sentence(words(source))
}

// counterpartyWords names the other side of a payment. For a correction it says who asked for it.
func counterpartyWords(kind string, name *string) string {
	direction, by, found := strings.Cut(optional(name), " by ")
	switch {
	case kind == "approval":
		return approvalKindWords(optional(name))
	case kind == "case":
		return withProviders(inLagos(optional(name)))
	case kind != "adjustment" || !found:
		return optional(name)
	}
	return direction + " by " + operatorWords(by)
}

// providerCode matches the code of a provider within a text of the API.
var providerCode = regexp.MustCompile(`\b(?:safehaven|vtpass|sudo|tatum)\b`)

// withProviders returns a text of the API with the names of its providers.
func withProviders(text string) string { return providerCode.ReplaceAllStringFunc(text, providerName) }

// kindAtBegin matches the kind of payment with which the text of an intent begins, such as "vtu of".
var kindAtBegin = regexp.MustCompile(`^(vtu|card|payout|credit|collection) of `)

// intentWords says what was asked for, such as "Purchase of ₦100.00, fee ₦0.00, from settlement account 1, by VTpass".
func intentWords(text string) string {
	return kindAtBegin.ReplaceAllStringFunc(text, func(one string) string { return kindWord(strings.TrimSuffix(one, " of ")) + " of " })
}

// operatorWords names who acted: an operator, a person of a company, a company's program, a program, or somebody at the command line.
func operatorWords(by string) string {
	kind, name, found := strings.Cut(by, ":")
	if !found {
		return by
	}
	switch kind {
	case "local":
		return name + " (command line)"
	case "program":
		return "Kobo itself"
	case "company":
		return "the company " + ending(name)
	case "person":
		if company, person, isNamed := strings.Cut(name, "/"); isNamed {
			return person + " of the company " + ending(company)
		}
		return name
	case "key":
		return "a program with the API key " + ending(name)
	}
	return by
}

// coded are the details of an act whose values are codes.
var coded = []string{"status", "kind", "state", "outcome", "type", "chain"}

// detailWords returns the details of an act in the order of their names.
func detailWords(of map[string]string) string {
	names := make([]string, 0, len(of))
	for name := range of {
		names = append(names, name)
	}
	slices.Sort(names)
	for i, name := range names {
		value := of[name]
		switch {
		case slices.Contains(coded, name):
			value = words(value)
		case name == "operator" || name == "createdBy" || name == "by":
			value = operatorWords(value)
		case strings.Contains(value, "/") && name == "account":
			value = accountName(value)
		}
		names[i] = strings.ToLower(actWords(name)) + " " + withProviders(inLagos(value))
	}
	return strings.Join(names, " · ")
}

// auditActs are the acts that stand in the story of a case or of a correction.
var auditActs = map[string]string{
	"case.propose": "proposed", "case.resolve": "approved",
	"adjustment.create": "asked for the correction", "adjustment.approve": "approved the correction", "adjustment.reject": "rejected the correction",
}

// auditWords returns the title of a line of the audit log, and the words below it. The text is who, the act, and the details as JSON.
func auditWords(text string) (title, said string) {
	who, rest, _ := strings.Cut(text, " ")
	action, details, _ := strings.Cut(rest, " ")
	who = operatorWords(who)
	act, known := auditActs[action]
	if !known {
		act = words(action)
	}
	of := map[string]string{}
	if json.Unmarshal([]byte(details), &of) != nil {
		return who + " " + act, details
	}
	title = who + " " + act
	if outcome := of["outcome"]; known && outcome != "" {
		title += " “" + outcome + "”"
	}
	if note := of["note"]; known && note != "" {
		return title, note
	}
	if reason := of["reason"]; known && reason != "" {
		return title, reason
	}
	return title, detailWords(of)
}

// caseWords returns the title of the beginning of a case, and what is not clear. The text is the reason and the detail.
func caseWords(text string) (title, said string) {
	reason, detail, found := strings.Cut(text, ": ")
	if !found {
		return "Case opened", withProviders(text)
	}
	return "Case opened: " + words(reason), withProviders(detail)
}

// codeOf returns the code that a step is about, and that developers copy: the name of an event, with which the text begins, or the
// address of a request. It is "" for other steps.
func codeOf(what, text string) string {
	switch what {
	case "event", "delivery":
		name, _, _ := strings.Cut(text, ", ")
		return name
	case "request":
		return routeOf(text)
	}
	return ""
}

// routed matches the address of a request.
var routed = regexp.MustCompile(`(?:GET|POST|PUT|PATCH|DELETE) /[^ ,]*`)

// routeOf returns the method and the address of a request, such as POST /api/v1/settlement/send-payout.
func routeOf(text string) string { return routed.FindString(text) }

// withoutName returns the text of a step about an event without the event's name.
func withoutName(text string) string {
	_, rest, found := strings.Cut(text, ", ")
	if !found {
		return text
	}
	return rest
}
