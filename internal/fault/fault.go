// Package fault is the one shape of a "no" inside Kobo.
//
// A business says what kind of no it is and what the caller may read; the edge
// decides how that is dressed on the wire; the cause is for operators and never
// leaves the house.
package fault

import (
	"errors"
	"fmt"
	"strconv"
	"time"
)

// Kind is why something did not happen, in the trade's words.
type Kind string

// The kinds. Anything that is not a *Fault counts as Internal.
const (
	Invalid         Kind = "invalid"         // the request breaks a rule of its schema
	Unauthenticated Kind = "unauthenticated" // no or wrong credentials
	Forbidden       Kind = "forbidden"       // known, but not allowed
	Missing         Kind = "missing"         // no such thing for this company
	Refused         Kind = "refused"         // a rule of the business says no
	Conflict        Kind = "conflict"        // the same thing is being done right now
	Mismatch        Kind = "mismatch"        // a key was used before with another request
	Limited         Kind = "limited"         // too many, too soon
	Unavailable     Kind = "unavailable"     // something we stand on is away; nothing was done
	Unknown         Kind = "unknown"         // it may or may not have been done
	Internal        Kind = "internal"        // our own mistake
)

// Fault is a no with its reason.
type Fault struct {
	Kind    Kind
	Message string         // the caller may read it
	Code    string         // a word for machines, such as KYB_REQUIRED; often empty
	Details []string       // one line for each broken rule, in the order of the schema
	Extra   map[string]any // what one dress of the edge shows besides, by its name there
	Retry   time.Duration  // when the same request may be tried again; 0: nobody knows
	cause   error
}

// New is a fault of a kind with a message for the caller.
func New(kind Kind, message string) *Fault { return &Fault{Kind: kind, Message: message} }

// Newf is New with a format.
func Newf(kind Kind, format string, args ...any) *Fault {
	return New(kind, fmt.Sprintf(format, args...))
}

// Because returns a copy that carries its cause, which is for operators only.
func (f *Fault) Because(cause error) *Fault {
	c := *f
	c.cause = cause
	return &c
}

// After returns a copy that says when the same request may be tried again. What
// is over already counts as a second.
func (f *Fault) After(d time.Duration) *Fault {
	c := *f
	c.Retry = max(d, time.Second)
	return &c
}

// usualRetry is for an absence of which nobody knows the end: longer than a
// database takes to answer again, as a rule.
const usualRetry = 5 * time.Second

// RetryAfter is the header Retry-After of an answer that gives this fault: whole
// seconds, rounded up, so that a caller who comes back then is not refused again
// (RFC 9110, 10.2.3).
func (f *Fault) RetryAfter() string {
	wait := f.Retry
	if wait <= 0 {
		wait = usualRetry
	}
	return strconv.FormatInt(int64((wait+time.Second-1)/time.Second), 10)
}

// Error is the whole story, for logs: callers get Message alone.
func (f *Fault) Error() string {
	if f.cause == nil {
		return string(f.Kind) + ": " + f.Message
	}
	return string(f.Kind) + ": " + f.Message + ": " + f.cause.Error()
}

// Unwrap is the cause.
func (f *Fault) Unwrap() error { return f.cause }

// Of is the fault inside err, or an Internal one that carries err as its cause.
// It returns nil for nil.
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

// Is tells whether err is a fault of this kind.
func Is(err error, kind Kind) bool { return err != nil && Of(err).Kind == kind }
