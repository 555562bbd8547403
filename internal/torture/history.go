package torture

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/kobo-waas/kobo/internal/money"
)

// These are the kinds of calls.
const (
	purchase   = "purchase"
	payout     = "payout"
	funding    = "funding"
	credit     = "credit"
	adjustment = "adjustment"
	reversal   = "reversal"
	look       = "look"    // reads the state of a payment
	balance    = "balance" // reads the balance of an account
	newKey     = "new API key"
	newSecret  = "new webhook secret"
	oldKey     = "old API key" // a request with a revoked key, or with its access token
	enquiry    = "name enquiry"
	opening    = "virtual account"
)

// These are the states of a payment, in the API's words, and what else an answer can say.
const (
	pending  = "PENDING"
	success  = "SUCCESS"
	failed   = "FAILED"
	reversed = "REVERSED"
	absent   = "ABSENT"  // there is no such payment
	refused  = "REFUSED" // nothing happened
	unknown  = ""        // no answer, or one that says nothing
)

// Call is a request that changes or reads money, with its answer. Times are microseconds since the
// begin of the run.
type Call struct {
	Kind    string     `json:"kind"`
	Company string     `json:"company"`
	Account int64      `json:"account,omitempty"`
	Key     string     `json:"key,omitempty"` // the idempotency key, or the id by which the payment is known
	Amount  money.Kobo `json:"amount"`
	Story   string     `json:"story,omitempty"` // of a purchase or a payout: what the simulated provider does
	To      string     `json:"to,omitempty"`    // of a purchase or a payout: the phone number or the account number that gets it
	Bank    string     `json:"bank,omitempty"`  // of a payout: the code of the bank that gets it
	Goods   string     `json:"goods,omitempty"` // of a purchase: airtime or data
	Paying  Paying     `json:"paying,omitzero"` // of a credit
	For     string     `json:"for,omitempty"`   // of an adjustment: the lost payment that it books
	Begin   int64      `json:"begin"`
	End     int64      `json:"end"`
	Client  int        `json:"client"`

	Status    int        `json:"status"`              // HTTP; 0 without an answer
	State     string     `json:"state,omitempty"`     // what the answer says
	Reference string     `json:"reference,omitempty"` // what the answer names
	Balance   money.Kobo `json:"balance"`             // what an answer about a balance says
	Said      money.Kobo `json:"said,omitempty"`      // the amount of the payment in the answer
	Answer    string     `json:"answer,omitempty"`    // the body, if the answer is not one that is expected
}

// Break is something that the run did to Kobo.
type Break struct {
	Kind   string        `json:"kind"`
	Target string        `json:"target,omitempty"`
	At     time.Duration `json:"at"`  // after the begin of the run
	For    time.Duration `json:"for"` // until it was mended

	Ended   time.Duration `json:"ended,omitempty"`   // of refused sales: when the biller sold again, after the begin of the run
	Commits int           `json:"commits,omitempty"` // that were lost
	Silent  int           `json:"silent,omitempty"`  // connections that lost bytes
	Lost    *Lost         `json:"lost,omitempty"`    // of a restore
}

// Lost is the time that a restore has lost. Times are microseconds since the begin of the run.
type Lost struct {
	From   int64 `json:"from"`   // the backup was begun
	Copied int64 `json:"copied"` // the backup was complete
	Down   int64 `json:"down"`   // all programs had ended
	Up     int64 `json:"up"`     // all programs served again
	Open   int64 `json:"open"`   // an operator opened API access

	Closed bool `json:"closed"` // API access was closed before an operator opened it
	Held   bool `json:"held"`   // moves of purchases were held
}

// History is everything that a run did and found.
type History struct {
	Run    Header
	Calls  []Call
	Breaks []Break
	Facts  Facts
}

// format is the format of new histories. A check passes over what an older history cannot say.
const format = 4

// countsSilence is the first format whose breaks say how many connections have lost bytes.
const countsSilence = 2

// countsStarts is the first format whose facts say how often programs were started, and whose calls have the decisions of operators during the load.
const countsStarts = 3

// countsMoves is the first format whose runs have two billers.
const countsMoves = 4

// Header says how a run began.
type Header struct {
	Version  string        `json:"version"`
	Began    time.Time     `json:"began"`
	Seed     uint64        `json:"seed"`
	Duration time.Duration `json:"duration"`
	Clients  int           `json:"clients"`
	Programs int           `json:"programs"`
	Engine   string        `json:"engine"` // the database

	PayoutFee money.Kobo `json:"payoutFee"` // of each payout; nothing else has a fee
	Format    int        `json:"format"`    // 0 if the history is older than some of its facts
}

// recorder collects the history of a run, and writes it to a file as it grows.
type recorder struct {
	mu      sync.Mutex
	began   time.Time
	history History
	file    *os.File
	out     *json.Encoder
	err     error
}

// line is one line of the file of a history. One of its fields is set.
type line struct {
	Run   *Header `json:"run,omitempty"`
	Call  *Call   `json:"call,omitempty"`
	Break *Break  `json:"break,omitempty"`
	Facts *Facts  `json:"facts,omitempty"`
}

func newRecorder(path string, h Header) (*recorder, error) {
	r := &recorder{began: time.Now(), history: History{Run: h}}
	if path != "" {
		var err error
		if r.file, err = os.Create(path); err != nil {
			return nil, err
		}
		r.out = json.NewEncoder(r.file)
	}
	r.write(line{Run: &h})
	return r, nil
}

// now returns the microseconds since the begin of the run.
func (r *recorder) now() int64 { return time.Since(r.began).Microseconds() }

func (r *recorder) call(c Call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.history.Calls = append(r.history.Calls, c)
	r.write(line{Call: &c})
}

func (r *recorder) broke(b Break) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.history.Breaks = append(r.history.Breaks, b)
	r.write(line{Break: &b})
}

// end adds the facts, and closes the file.
func (r *recorder) end(f Facts) (History, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.history.Facts = f
	r.write(line{Facts: &f})
	if r.file != nil {
		r.err = errors.Join(r.err, r.file.Close())
	}
	return r.history, r.err
}

func (r *recorder) write(l line) {
	if r.out != nil && r.err == nil {
		r.err = r.out.Encode(l)
	}
}

// calls returns the calls so far.
func (r *recorder) calls() []Call {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.history.Calls)
}

// breaks returns the breaks so far.
func (r *recorder) breaks() []Break {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.history.Breaks)
}

// ReadHistory reads the file of a history.
func ReadHistory(path string) (h History, err error) {
	file, err := os.Open(path)
	if err != nil {
		return h, err
	}
	defer file.Close()
	d := json.NewDecoder(bufio.NewReader(file))
	ended := false
	for {
		var l line
		err := d.Decode(&l)
		switch {
		case errors.Is(err, io.EOF) && !ended:
			return h, fmt.Errorf("%s ends before the facts: its run was interrupted", path)
		case errors.Is(err, io.EOF):
			return h, nil
		case err != nil:
			return h, fmt.Errorf("%s: %w", path, err)
		case l.Run != nil:
			h.Run = *l.Run
		case l.Call != nil:
			h.Calls = append(h.Calls, *l.Call)
		case l.Break != nil:
			h.Breaks = append(h.Breaks, *l.Break)
		case l.Facts != nil:
			h.Facts, ended = *l.Facts, true
		}
	}
}
