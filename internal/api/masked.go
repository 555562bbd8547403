package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/kobo-waas/kobo/internal/contract"
	"github.com/kobo-waas/kobo/internal/person"
	"github.com/kobo-waas/kobo/internal/report"
)

// People in the role viewer read personal data masked. The mask is here and not on the pages, because pages ask this handler: a new
// page, or a new field of a page, cannot show what the answer does not have. A page that reads a room itself masks by itself.

// readsMasked reports whether the request comes from a person who reads personal data masked.
func readsMasked(ctx context.Context) bool {
	p, sits := seatOf(ctx)
	return sits && ReadsMasked(p.Role)
}

// ReadsMasked reports whether people with a role read personal data masked.
func ReadsMasked(role string) bool { return role == person.Viewer }

// masked returns a handler whose answers have masks in place of personal data, if the person who asks reads them so.
func masked(op *contract.Operation, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !readsMasked(r.Context()) {
			next.ServeHTTP(w, r)
			return
		}
		to := &held{header: w.Header(), status: http.StatusOK}
		next.ServeHTTP(to, r)
		body, err := maskedBody(op.ID, to.body.Bytes())
		if err != nil {
			refuse(w, r, fmt.Errorf("api: the answer of %s could not be masked: %w", op.ID, err))
			return
		}
		w.WriteHeader(to.status)
		// An error means that the page has gone.
		_, _ = w.Write(body)
	})
}

// held is an answer that nobody has seen yet.
type held struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header returns the header of the answer.
func (h *held) Header() http.Header { return h.header }

// WriteHeader stores the status.
func (h *held) WriteHeader(status int) { h.status = status }

// Write adds to the body.
func (h *held) Write(b []byte) (int, error) { return h.body.Write(b) }

// maskedBody returns the JSON of an answer with its personal data masked.
func maskedBody(operationID string, text []byte) ([]byte, error) {
	if len(text) == 0 {
		return nil, nil
	}
	in := json.NewDecoder(bytes.NewReader(text))
	in.UseNumber() // an amount stays as it is
	var body any
	if err := in.Decode(&body); err != nil {
		return nil, err
	}
	m := masks(operationID)
	return json.Marshal(m.of("", body))
}

// maskOf has the mask of each field with personal data.
var maskOf = map[string]func(string) string{
	"phoneNumber": report.MaskPhone, "phone": report.MaskPhone,
	"email": report.MaskEmail, "emailAddress": report.MaskEmail,
	"meterNumber": report.MaskText, "cardNumber": report.MaskText, "token": hide, "bonusToken": hide, "kct1": hide, "kct2": hide, "resetToken": hide, "configureToken": hide,
	"dateOfBirth": hide, "address": hide,
	"account_number": report.MaskText, "accountNumber": report.MaskText, "senderAccount": report.MaskText,
	"externalReference": maskNumber,
}

// maskNumber masks an own reference that is nothing but a number, such as a phone number. Others name orders, and not people.
func maskNumber(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return !strings.ContainsRune("+ -0123456789", r) }) {
		return s
	}
	return report.MaskText(s)
}

func hide(string) string { return report.Hidden }

// typedFields are fields with words of people and of providers, which may have such data too. The values of a change are the two last.
var typedFields = []string{
	"narration", "message", "failureReason", "reason", "text", "error", "details", "response", "lastAnswer", "outdated", "metadata", "body", "description",
	"then", "now",
}

// ownNumbers are the operations whose account numbers are not those of beneficiaries: the company, or a customer, is paid there.
var ownNumbers = []string{"listSettlementAccounts", "listCredits", "findCredit", "listVirtualAccounts", "findVirtualAccount", "listCustomers", "findCustomer"}

// masks is the masking of the answers of one operation.
type masks string

// of returns a value with the mask of its field. The values within an object or a list that has a mask have it too.
func (m masks) of(field string, value any) any {
	switch value := value.(type) {
	case map[string]any:
		for name, within := range value {
			of := name
			if m.rule(field) != nil {
				of = field
			}
			value[name] = m.of(of, within)
		}
	case []any:
		for i, within := range value {
			value[i] = m.of(field, within)
		}
	case string:
		if rule := m.rule(field); rule != nil && value != "" {
			return rule(value)
		}
	case json.Number:
		if rule := m.rule(field); rule != nil { // a number of the company's own metadata may be a phone number
			return rule(value.String())
		}
	}
	return value
}

// rule returns the mask of a field, or nil.
func (m masks) rule(field string) func(string) string {
	switch {
	case slices.Contains(typedFields, field):
		return report.MaskText
	case field == "accountNumber" && slices.Contains(ownNumbers, string(m)):
		return nil
	case field == "address" && strings.Contains(string(m), "Crypto"):
		return nil // on a chain
	}
	return maskOf[field]
}
