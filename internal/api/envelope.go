package api

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/kobo-waas/kobo/internal/contract"
	"github.com/kobo-waas/kobo/internal/fault"
)

// family is how an area of the contract dresses its errors (x-family).
type family string

const (
	// auth errors are {message}.
	auth family = "auth"
	// token is auth with one oddity: an unexpected error is a 400.
	token family = "token"
	// account errors are {status: "error", message}.
	account family = "account"
	// corporateFamily errors are {status: "error", message}, broken rules with a list of
	// errors by field; the reason for which an account was not opened stands
	// beside the message; and an unknown id is a 404.
	corporateFamily family = "corporate"
	// customerFamily errors are {status: "error", message}, broken rules too.
	customerFamily family = "customer"
	// cardFamily errors are {status: "error", message}, told apart by the message; one
	// that is not the end of the story has data as well.
	cardFamily family = "card"
	// vtuFamily errors are {success: false, message}, except broken rules, which look
	// like those of account.
	vtuFamily family = "vtu"
	// settlementFamily is account, except that what a business rule refuses is
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
	problemBody struct {
		Status  string `json:"status"`
		Message string `json:"message"`
	}
	validationBody struct {
		problemBody
		Details []string `json:"details"`
	}
	refusalBody struct {
		Error string `json:"error"`
	}
	fieldsBody struct {
		problemBody
		Errors []fieldProblem `json:"errors"`
	}
	fieldProblem struct {
		Path    []string `json:"path"`
		Message string   `json:"message"`
	}
	reasonBody struct {
		problemBody
		Error string `json:"error"`
	}
	dataBody struct {
		problemBody
		Data any `json:"data"`
	}
	vtuBody struct {
		Success bool   `json:"success"`
		Message string `json:"message"`
	}
)

// dress turns a fault into the status and body that the family answers with.
// What the caller may not read never gets here: messages of internal faults and
// of absent services are replaced.
func (f family) dress(why *fault.Fault) (int, any) {
	status, message := statusOf(why.Kind), why.Message
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
	case f == auth || f == token:
		return status, messageBody{sentence(message, why.Details)}
	case f == corporateFamily:
		return corporateDress(status, message, why)
	case f == customerFamily:
		return status, problemBody{"error", sentence(message, why.Details)}
	case f == cardFamily:
		return cardDress(status, message, why)
	case why.Details != nil:
		return status, validationBody{problemBody{"error", "Validation error"}, why.Details}
	case f == settlementFamily && (why.Kind == fault.Refused || why.Kind == fault.Missing):
		return status, refusalBody{" failed: " + message} // wallet-api.md, Errors: it begins with a space
	case f == vtuFamily:
		return status, vtuBody{false, message}
	default:
		return status, problemBody{"error", message}
	}
}

// cardDress is what cards answer: wallet-api.md tells missing fields and an
// invalid amount apart by the message.
func cardDress(status int, message string, why *fault.Fault) (int, any) {
	if data := why.Extra["data"]; data != nil {
		return status, dataBody{problemBody{"error", message}, data}
	}
	if why.Details == nil {
		return status, problemBody{"error", message}
	}
	missing, amount := false, false
	for _, d := range why.Details {
		missing = missing || strings.HasSuffix(d, "is required") || strings.HasSuffix(d, "is not allowed to be empty")
		amount = amount || strings.HasPrefix(d, `"amount"`)
	}
	message = strings.Join(why.Details, ". ")
	switch {
	case missing:
		message = "Missing required fields: " + message
	case amount:
		message = "Invalid amount: " + message
	}
	return status, validationBody{problemBody{"error", message}, why.Details}
}

// corporateDress is what corporate accounts answer.
func corporateDress(status int, message string, why *fault.Fault) (int, any) {
	if why.Details != nil {
		fields, _ := why.Extra["fields"].([]string)
		errs := make([]fieldProblem, len(why.Details))
		for i, d := range why.Details {
			errs[i] = fieldProblem{[]string{fields[i]}, d}
		}
		return status, fieldsBody{problemBody{"error", "Validation error"}, errs}
	}
	if reason, ok := why.Extra["error"].(string); ok {
		return status, reasonBody{problemBody{"error", message}, reason}
	}
	if why.Kind == fault.Missing {
		status = http.StatusNotFound // wallet-api.md, Errors: resend OTP, create sub-account
	}
	return status, problemBody{"error", message}
}

// statusOf is the status of a kind of fault. An id that does not exist is a 400,
// since the contract says so wherever it says anything.
func statusOf(k fault.Kind) int {
	switch k {
	case fault.Invalid, fault.Missing, fault.Refused:
		return http.StatusBadRequest
	case fault.Unauthenticated:
		return http.StatusUnauthorized
	case fault.Forbidden:
		return http.StatusForbidden
	case fault.Conflict:
		return http.StatusConflict
	case contract.TooLarge:
		return http.StatusRequestEntityTooLarge
	case fault.Mismatch:
		return http.StatusUnprocessableEntity
	case fault.Limited:
		return http.StatusTooManyRequests
	case fault.Unavailable, fault.Unknown:
		return http.StatusServiceUnavailable
	default:
		return http.StatusInternalServerError
	}
}

// sentence is the message of a family that has no place for details.
func sentence(message string, details []string) string {
	if details == nil {
		return message
	}
	for _, d := range details {
		if d == `"refreshToken" is required` || d == `"refreshToken" is not allowed to be empty` {
			return "Bad Request: Refresh token is missing"
		}
	}
	return strings.Join(details, ". ")
}

// parameterFault is what the generated code found wrong with a header, a query
// or a path.
func parameterFault(op *operation, err error) *fault.Fault {
	var many *TooManyValuesForParamError
	var format *InvalidParamFormatError
	var absent *RequiredParamError
	switch {
	case op.family == token: // the only header it asks for is the key
		return fault.New(fault.Invalid, "Bad Request: API key is missing").Because(err)
	case errors.As(err, &absent):
		return fault.Of(slip(absent.ParamName, "is required")).Because(err)
	case errors.As(err, &many):
		return fault.Newf(fault.Invalid, "%s must be sent once", many.ParamName).Because(err)
	case errors.As(err, &format): // every parameter is a text: what cannot be one is several
		return fault.Of(slip(format.ParamName, "must be sent once")).Because(err)
	default:
		return fault.New(fault.Invalid, "The request is not valid").Because(err)
	}
}

// refuse answers with a fault in the dress of a family and remembers it for the
// log line. Each 429 and 503 says when the same request may be sent again.
func refuse(w http.ResponseWriter, r *http.Request, f family, err error) {
	why := fault.Of(err)
	if why.Kind == fault.Internal && r.Context().Err() != nil {
		// The caller has gone, or we are going: nobody made a mistake.
		why = fault.New(fault.Unavailable, "the request was given up").Because(err)
	}
	c := callOf(r.Context())
	if c.failed != nil {
		why = c.failed(why)
	}
	c.err = why
	if why.Kind == contract.TooLarge {
		w.Header().Set("Connection", "close") // the server would read on before it answers
	}
	status, b := f.dress(why)
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", why.RetryAfter())
	}
	contract.Write(w, status, b)
}
