// Package fault provides the error type of Kobo's packages.
//
// A business package sets the kind of the error and a message for the caller. The API decides the
// HTTP status and the body. The cause of the error is for operators, and a caller never sees it.
package fault

import (
	"errors"
	"fmt"
	"strconv"
	"time"
)

// Kind is the reason why a request failed.
type Kind string

// These are the kinds. An error that is not a *Fault counts as Internal.
const (
	Invalid         Kind = "invalid"         // the request breaks a rule of its schema
	Unauthenticated Kind = "unauthenticated" // the credentials are missing or wrong
	Forbidden       Kind = "forbidden"       // the caller is known, but not allowed to do this
	Missing         Kind = "missing"         // the company does not have the requested object
	Gone            Kind = "gone"            // the object was removed on purpose
	Refused         Kind = "refused"         // a business rule refuses the request
	Conflict        Kind = "conflict"        // an equal request is running now
	Mismatch        Kind = "mismatch"        // the Idempotency-Key was used before with a different request
	Limited         Kind = "limited"         // too many requests
	Unavailable     Kind = "unavailable"     // the database or another service is unavailable; nothing was done
	Unknown         Kind = "unknown"         // the request may or may not have been carried out
	Internal        Kind = "internal"        // an error in Kobo itself
)

// Fault is an error with its kind and a message.
type Fault struct {
	Kind    Kind
	Message string         // for the caller
	Code    string         // a code for programs, such as KYB_REQUIRED; often empty
	Details []string       // one line for each broken rule, in the order of the schema
	Extra   map[string]any // further fields of the response, by their names
	Retry   time.Duration  // the time until the same request may be repeated; 0 means that it is unknown
	reason  Reason         // set by With; "" stands for the usual word of the kind
	cause   error
}

// New returns a fault with a kind and a message for the caller.
func New(kind Kind, message string) *Fault { return &Fault{Kind: kind, Message: message} }

// Newf does the same as New with a formatted message.
func Newf(kind Kind, format string, args ...any) *Fault {
	return New(kind, fmt.Sprintf(format, args...))
}

// Because returns a copy of the fault with a cause, which is for operators only.
func (f *Fault) Because(cause error) *Fault {
	c := *f
	c.cause = cause
	return &c
}

// After returns a copy of the fault with the time after which the same request may be repeated.
// This time is d, but at least one second.
func (f *Fault) After(d time.Duration) *Fault {
	c := *f
	c.Retry = max(d, time.Second)
	return &c
}

// usualRetry is the value of the Retry-After header for faults whose Retry is 0. A database usually
// recovers sooner.
const usualRetry = 5 * time.Second

// RetryAfter returns the value of the Retry-After header (RFC 9110, 10.2.3) for a response with
// this fault. It rounds the seconds up, so that a retry after this time is not too early.
func (f *Fault) RetryAfter() string {
	wait := f.Retry
	if wait <= 0 {
		wait = usualRetry
	}
	return strconv.FormatInt(int64((wait+time.Second-1)/time.Second), 10)
}

// Error returns the text for logs, which includes the cause. Callers get only Message.
func (f *Fault) Error() string {
	if f.cause == nil {
		return string(f.Kind) + ": " + f.Message
	}
	return string(f.Kind) + ": " + f.Message + ": " + f.cause.Error()
}

// Unwrap returns the cause.
func (f *Fault) Unwrap() error { return f.cause }

// Of returns the fault in err's chain. If the chain contains no fault, Of returns an Internal fault
// with err as its cause. It returns nil if err is nil.
func Of(err error) *Fault {
	if err == nil {
		return nil
	}
	var f *Fault
	if errors.As(err, &f) {
		return f
	}
	return New(Internal, "Internal Server Error").Because(err)
}

// Is reports whether err is a fault of this kind.
func Is(err error, kind Kind) bool { return err != nil && Of(err).Kind == kind }
