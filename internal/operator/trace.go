package operator

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/kobo-waas/kobo/internal/fault"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/peer"
)

// This file writes the traces of what is no change: failed logins, refusals by role, and what operators read. A trace
// is a line of no company, whose subject is the company that it is about. So an attacker who causes
// traces never waits for the lock of a company, and never makes the company wait.
//
// An attacker must not fill the disk. So an hour has at most mostTraces different traces of a program,
// and of equal traces only the first, the tenth, the hundredth and so on are written. The log of the
// program has a line for each request.

// mostTraces is the number of different traces that a program remembers in an hour.
const mostTraces = 1000

// unknown is the author of a failed login.
var unknown = Operator{Name: "caller:unknown"}

// trace is what is counted in an hour.
type trace struct{ by, action, subject, network string }

// traces counts the traces of the present hour.
type traces struct {
	mu   sync.Mutex
	hour time.Time
	seen map[trace]int64
}

// count counts a trace and returns how often the hour has had it. If the hour has had too many
// different traces, count returns false and counts nothing.
func (t *traces) count(now time.Time, one trace) (int64, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if hour := now.Truncate(time.Hour); t.seen == nil || !hour.Equal(t.hour) {
		t.hour, t.seen = hour, map[trace]int64{}
	}
	if t.seen[one] == 0 && one.network != several && len(t.seen) >= mostTraces {
		return 0, false
	}
	t.seen[one]++
	return t.seen[one], true
}

// several stands for the networks of the failed logins that an hour has too many of.
const several = "several"

// FailedLogin records that a caller presented a wrong key or token. The subject is the company whose
// access the caller tried, or "". Calls with one action, subject and network in one hour are equal.
// Beyond mostTraces, all calls with one action are equal.
func (s *Service) FailedLogin(ctx context.Context, action, subject string) error {
	return s.sample(ctx, &s.failures, unknown.From(ctx), action, subject, "failuresThisHour")
}

// Forbidden records that an operator called an operation that the operator's role does not allow. The
// lines are bounded like those of FailedLogin, but counted apart. So a flood of failed logins hides none.
func (s *Service) Forbidden(ctx context.Context, by Operator, operation string) error {
	return s.sample(ctx, &s.refusals, by, "operator.forbidden", operation, "refusalsThisHour")
}

// sample writes the first, the tenth, the hundredth … of the equal traces of an hour. The detail with the
// given name is their number so far.
func (s *Service) sample(ctx context.Context, seen *traces, by Operator, action, subject, number string) error {
	n, ok := seen.count(s.clock.Now(), trace{by.Name, action, subject, peer.Network(peer.Of(ctx))})
	if !ok {
		subject, by.address = "", several
		n, _ = seen.count(s.clock.Now(), trace{by.Name, action, "", several})
	}
	if !isPowerOfTen(n) {
		return nil
	}
	return s.write(ctx, by, action, subject, map[string]string{number: strconv.FormatInt(n, 10)})
}

// Read records that an operator reads personal data. The subject names the data. Equal reads of one
// operator from one address in one hour are one line.
func (s *Service) Read(ctx context.Context, by Operator, action, subject string) error {
	s.personal.Inc()
	one := trace{by.Name, action, subject, by.address}
	if n, ok := s.reads.count(s.clock.Now(), one); ok && n > 1 {
		return nil
	}
	err := s.write(ctx, by, action, subject, nil)
	if err != nil {
		s.reads.forget(one)
	}
	return err
}

// Revealed is the action of the audit line about contact data that an operator has seen.
const Revealed = "customer.reveal"

// RevealedBeneficiary is the action of the audit line about the account of a payout that an operator has seen.
const RevealedBeneficiary = "beneficiary.reveal"

// RevealReasons are the reasons of a reveal. OTHER needs a note.
var RevealReasons = []string{"CALLER_VERIFIED", "BANK_QUESTION", "INVESTIGATION", otherReason}

const otherReason = "OTHER"

// Reveal records that an operator sees the contact data of a customer, and why. Each reveal is a line. An
// unknown reason, and OTHER without a note of 4 to 500 characters, are Invalid.
func (s *Service) Reveal(ctx context.Context, by Operator, company, customerID, reason, note string) error {
	return s.reveal(ctx, by, Revealed, customerID, map[string]string{"company": company, "reason": reason, "fields": "phoneNumber email dateOfBirth address"}, note)
}

// RevealBeneficiary records that an operator sees the account that a payout pays, and why, as Reveal does.
func (s *Service) RevealBeneficiary(ctx context.Context, by Operator, company, reference, reason, note string) error {
	return s.reveal(ctx, by, RevealedBeneficiary, reference, map[string]string{"company": company, "reason": reason, "fields": "accountNumber"}, note)
}

func (s *Service) reveal(ctx context.Context, by Operator, action, subject string, details map[string]string, note string) error {
	reason := details["reason"]
	if !slices.Contains(RevealReasons, reason) {
		return fault.New(fault.Invalid, `"reason" must be one of [`+strings.Join(RevealReasons, ", ")+`]`)
	}
	if n := utf8.RuneCountInString(note); (note != "" || reason == otherReason) && (n < 4 || n > 500) {
		return fault.New(fault.Invalid, `"note" must have 4 to 500 characters`)
	}
	s.personal.Inc()
	if note != "" {
		details["note"] = note
	}
	return s.write(ctx, by, action, subject, details)
}

// Fingerprint returns a keyed hash of a value of a kind, such as a phone number. Equal values have equal
// hashes under one master key. Without the key, the hash says nothing about the value.
func (s *Service) Fingerprint(kind, value string) string { return s.keys.MAC("search/"+kind, value) }

// forget makes the next equal trace count as the first.
func (t *traces) forget(one trace) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.seen, one)
}

// write writes a trace in a transaction of its own.
func (s *Service) write(ctx context.Context, by Operator, action, subject string, details map[string]string) error {
	line := by.Note("", action, subject, details, s.clock.Now())
	return s.db.Tx(ctx, func(q db.Querier) error { return s.insertLine(ctx, q, line) })
}

func isPowerOfTen(n int64) bool {
	for n > 1 && n%10 == 0 {
		n /= 10
	}
	return n == 1
}
