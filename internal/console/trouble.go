package console

import (
	"net/http"

	"github.com/kobo-waas/kobo/internal/fault"
)

// trouble is a request that could not be answered with its page.
type trouble struct {
	status    int
	why       *fault.Fault
	wrote     bool // the request was a form
	forgotten bool // the address does not exist
	keptOut   bool // the company is not verified, or is switched off
	closed    bool // Kobo is closed for maintenance, and has sent nothing
	foreign   bool // another site sent the form
}

func (t trouble) title() string {
	switch t.why.Reason() {
	case fault.KYBRequired:
		return "The company is not verified yet"
	case fault.CompanyDeactivated:
		return "The company is switched off"
	case fault.SecondPersonNeeded:
		return "Another person must decide"
	}
	if t.closed {
		return "Closed for maintenance"
	}
	if t.foreign {
		return "Another site sent this form"
	}
	switch t.status {
	case http.StatusNotFound:
		return "Not found"
	case http.StatusForbidden:
		return "Your role does not allow this"
	case http.StatusConflict:
		return "Something has changed"
	case http.StatusRequestEntityTooLarge:
		return "The form is too large"
	case http.StatusTooManyRequests:
		return "Too many attempts"
	case http.StatusServiceUnavailable:
		return "Not available now"
	case http.StatusInternalServerError:
		return "Kobo made a mistake"
	}
	return "This was refused"
}

func (t trouble) text() string {
	if t.closed {
		return t.why.Message
	}
	switch t.status {
	case http.StatusInternalServerError:
		return "The cause is in the program's log. The ledger changes only in whole commits, so no money is half moved."
	case http.StatusServiceUnavailable:
		return t.why.Message + " Pages that need the database wait for it. Kobo goes on by itself when it is back."
	case http.StatusTooManyRequests:
		return t.why.Message + " Try again in " + t.why.RetryAfter() + " seconds."
	}
	return t.why.Message
}

func (t trouble) wayOut() string {
	if t.wrote {
		return "Look now"
	}
	return "Back"
}
