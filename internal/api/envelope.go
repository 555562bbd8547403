package api

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/kobo-waas/kobo/internal/contract"
	"github.com/kobo-waas/kobo/internal/fault"
)

// A family is a group of endpoints whose error responses have the same format (x-family).
type family string

const (
	// auth error responses have the body {message}.
	auth family = "auth"
	// token is like auth, except that an internal error is a 400.
	token family = "token"
	// account error responses have the body {status: "error", message}.
	account family = "account"
	// corporateFamily is like account, except that broken validation rules are listed by field. An
	// error may show the bank's reason in addition to the message. An unknown id is a 404.
	corporateFamily family = "corporate"
	// customerFamily is like account. The message lists the broken rules.
	customerFamily family = "customer"
	// cardFamily is like account. The message begins with the type of the broken rules. The error
	// for a card funding without a known outcome also has data.
	cardFamily family = "card"
	// vtuFamily error responses have the body {success: false, message}. For broken rules they
	// are like those of account.
	vtuFamily family = "vtu"
	// settlementFamily is like account, except that a refusal by a business rule has the body
	// {error: " failed: <reason>"}.
	settlementFamily family = "settlement"
)

var families = []family{auth, token, account, corporateFamily, customerFamily, cardFamily, vtuFamily, settlementFamily}

type (
	messageBody struct {
		Message string `json:"message"`
	}
	gateBody struct {
		Code    string `json:"code"`
		Status  string `json:"kybStatus"`
		Message string `json:"message"`
	}
	// problemBody has at most one field in addition to the status and the message.
	problemBody struct {
		Status  string         `json:"status"`
		Message string         `json:"message"`
		Details []string       `json:"details,omitzero"`
		Errors  []fieldProblem `json:"errors,omitzero"`
		Error   *string        `json:"error,omitzero"`
		Data    any            `json:"data,omitzero"`
		// FirstSequence is the first event of the feed that is kept.
		FirstSequence any `json:"firstSequence,omitzero"`
	}
	fieldProblem struct {
		Path    []string `json:"path"`
		Message string   `json:"message"`
	}
	refusalBody struct {
		Error string `json:"error"`
		Data  any    `json:"data,omitzero"` // the reference of a declined payment
	}
	vtuBody struct {
		Success bool   `json:"success"`
		Message string `json:"message"`
		Data    any    `json:"data,omitzero"` // the reference of a declined payment
	}
)

func problem(message string) problemBody { return problemBody{Status: "error", Message: message} }

// dress returns the HTTP status and the error body for a fault, in the format of the family f. If
// the fault is an internal error or an unavailable service, the body has a general message and does
// not show the fault's message.
func (f family) dress(why *fault.Fault) (int, any) {
	status, message := cmp.Or(statuses[why.Kind], http.StatusInternalServerError), why.Message
	switch {
	case why.Kind == fault.Unavailable:
		message = "Service temporarily unavailable"
	case status == http.StatusInternalServerError:
		message = "Internal Server Error"
	}
	if f == token && status == http.StatusInternalServerError {
		status = http.StatusBadRequest // wallet-api.md, Errors: generate token, unexpected server error
	}
	if why.Kind == fault.Forbidden && why.Code != "" {
		return status, gateBody{Code: why.Code, Status: fmt.Sprint(why.Extra["kybStatus"]), Message: message}
	}
	switch {
	case why.Kind == fault.Gone:
		return status, problemBody{Status: "error", Message: message, FirstSequence: why.Extra["firstSequence"]}
	case f == auth || f == token:
		return status, messageBody{sentence(message, why.Details)}
	case f == corporateFamily:
		return corporateDress(status, message, why)
	case f == customerFamily:
		return status, problem(sentence(message, why.Details))
	case f == cardFamily:
		return status, cardDress(message, why)
	case why.Details != nil:
		return status, problemBody{Status: "error", Message: "Validation error", Details: why.Details}
	case f == settlementFamily && (why.Kind == fault.Refused || why.Kind == fault.Missing):
		return status, refusalBody{" failed: " + message, why.Extra["data"]} // wallet-api.md, Errors: the text begins with a space
	case f == vtuFamily:
		return status, vtuBody{false, message, why.Extra["data"]}
	default:
		return status, problem(message)
	}
}

// cardDress returns the error body of cardFamily. The message distinguishes missing fields from
// an invalid amount (wallet-api.md).
func cardDress(message string, why *fault.Fault) problemBody {
	if why.Extra["data"] != nil || why.Details == nil {
		return problemBody{Status: "error", Message: message, Data: why.Extra["data"]}
	}
	message = strings.Join(why.Details, ". ")
	switch {
	case slices.ContainsFunc(why.Details, func(d string) bool {
		return strings.HasSuffix(d, "is required") || strings.HasSuffix(d, "is not allowed to be empty")
	}):
		message = "Missing required fields: " + message
	case slices.ContainsFunc(why.Details, func(d string) bool { return strings.HasPrefix(d, `"amount"`) }):
		message = "Invalid amount: " + message
	}
	return problemBody{Status: "error", Message: message, Details: why.Details}
}

// corporateDress returns the status and the error body of corporateFamily.
func corporateDress(status int, message string, why *fault.Fault) (int, any) {
	if why.Details != nil {
		fields, _ := why.Extra["fields"].([]string)
		errs := make([]fieldProblem, len(why.Details))
		for i, d := range why.Details {
			errs[i] = fieldProblem{[]string{fields[i]}, d}
		}
		return status, problemBody{Status: "error", Message: "Validation error", Errors: errs}
	}
	if reason, ok := why.Extra["error"].(string); ok {
		return status, problemBody{Status: "error", Message: message, Error: &reason}
	}
	if why.Kind == fault.Missing {
		status = http.StatusNotFound // wallet-api.md, Errors: resend OTP, create sub-account
	}
	return status, problem(message)
}

// statuses maps the kinds of faults to HTTP statuses. All other kinds are a 500. An unknown id is
// a 400, as the contract specifies for most operations.
var statuses = map[fault.Kind]int{
	fault.Invalid:         http.StatusBadRequest,
	fault.Missing:         http.StatusBadRequest,
	fault.Gone:            http.StatusGone,
	fault.Refused:         http.StatusBadRequest,
	fault.Unauthenticated: http.StatusUnauthorized,
	fault.Forbidden:       http.StatusForbidden,
	fault.Conflict:        http.StatusConflict,
	contract.TooLarge:     http.StatusRequestEntityTooLarge,
	fault.Mismatch:        http.StatusUnprocessableEntity,
	fault.Limited:         http.StatusTooManyRequests,
	fault.Unavailable:     http.StatusServiceUnavailable,
	fault.Unknown:         http.StatusServiceUnavailable,
}

// sentence joins an error message and its details, for error bodies without a field for details.
func sentence(message string, details []string) string {
	if details == nil {
		return message
	}
	return strings.Join(details, ". ")
}

// missingRefresh returns the fault of the error catalogue for a body without a refresh token, and
// any other fault unchanged. The rules of the contract refuse such a body first, as a broken rule.
func missingRefresh(why *fault.Fault) *fault.Fault {
	if slices.Contains(why.Details, `"refreshToken" is required`) || slices.Contains(why.Details, `"refreshToken" is not allowed to be empty`) {
		return fault.New(fault.Invalid, "Bad Request: Refresh token is missing").With(fault.CredentialsMissing)
	}
	return why
}

// parameterFault returns the fault for a header, query or path parameter that the generated code
// refused.
func parameterFault(f family, r *http.Request, err error) *fault.Fault {
	var many *TooManyValuesForParamError
	var format *InvalidParamFormatError
	var absent *RequiredParamError
	why := fault.New(fault.Invalid, "The request is not valid")
	switch {
	case f == token: // the API key is the only header parameter of these endpoints
		why = fault.New(fault.Invalid, "Bad Request: API key is missing").With(fault.CredentialsMissing)
	case errors.As(err, &absent):
		why = slip(absent.ParamName, "is required")
	case errors.As(err, &many):
		why = fault.Newf(fault.Invalid, "%s must be sent once", many.ParamName)
	case errors.As(err, &format) && len(r.URL.Query()[format.ParamName]) == 1: // any text is valid but for a boolean
		why = slip(format.ParamName, "must be one of [true, false]")
	case errors.As(err, &format):
		why = slip(format.ParamName, "must be sent once")
	}
	return why.Because(err)
}

// refuse responds with a fault, in the error format of the endpoint's family. It stores the fault
// for the log line. Each 429 and 503 states when the caller may retry.
func refuse(w http.ResponseWriter, r *http.Request, err error) {
	why := fault.Of(err)
	if why.Kind == fault.Internal && r.Context().Err() != nil {
		// The caller has disconnected, or the program stops. This is not an internal error.
		why = fault.New(fault.Unavailable, "the request was cancelled").Because(err)
	}
	c := callOf(r.Context())
	why = missingRefresh(why)
	if c.failed != nil {
		why = c.failed(why)
	}
	c.refused(why)
	if why.Kind == contract.TooLarge {
		w.Header().Set("Connection", "close") // otherwise the server would read the body before it responds
	}
	status, b := c.family.dress(why)
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", why.RetryAfter())
	}
	contract.Write(w, status, b)
}
