package provider

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Check is one question to a provider that costs nothing and changes nothing.
type Check struct {
	Name string
	// Ask asks the question. The detail states what was found, without a secret. An error of Warn or
	// Skip makes the result a warning or leaves the check out. Any other error makes it a failure.
	Ask    func(ctx context.Context) (detail string, err error)
	Action string // what the reader does about a warning or a failure
	// Needed is true if the provider's next checks cannot pass without this one. They are skipped if
	// it fails.
	Needed bool
}

// Checker is implemented by every plug.
type Checker interface {
	// Checks returns the plug's checks, in the order in which they run.
	Checks() []Check
}

// NoSuchReference is a reference that no operation has. Checks look it up, since the reply shows
// whether a plug understands "not found".
const NoSuchReference = "00000000000000000000"

// Verdict is the result of a check.
type Verdict string

// The results of a check. Only a failure means that something is wrong.
const (
	Fine    Verdict = "ok"
	Warning Verdict = "warning"
	Failed  Verdict = "failed"
	Skipped Verdict = "skipped"
)

// Checked is a check with its result, as one JSON object of `kobo provider check --json`.
type Checked struct {
	Provider     string  `json:"provider"`
	Check        string  `json:"check"`
	Result       Verdict `json:"result"`
	Detail       string  `json:"detail"`
	Action       string  `json:"action"` // empty if there is nothing to do
	Milliseconds int64   `json:"milliseconds"`
}

// aside is the error of a check that neither passes nor fails.
type aside struct {
	verdict Verdict
	detail  string
}

// Error returns the detail.
func (a aside) Error() string { return a.detail }

// Warn returns the error of a check that found something doubtful.
func Warn(format string, args ...any) error { return aside{Warning, fmt.Sprintf(format, args...)} }

// Skip returns the error of a check that cannot be made, with the reason.
func Skip(format string, args ...any) error { return aside{Skipped, fmt.Sprintf(format, args...)} }

// checkTime limits one check. It is longer than the deadline of a plug's read.
const checkTime = 20 * time.Second

// RunChecks makes a provider's checks in their order, and returns one result for each.
func RunChecks(ctx context.Context, name string, checks []Check) []Checked {
	out := make([]Checked, 0, len(checks))
	lacking := ""
	for _, c := range checks {
		done := Checked{Provider: name, Check: c.Name, Result: Skipped, Detail: "needs the check " + lacking}
		if lacking == "" {
			done = c.run(ctx, name)
		}
		if c.Needed && done.Result == Failed {
			lacking = c.Name
		}
		out = append(out, done)
	}
	return out
}

// run makes one check.
func (c Check) run(ctx context.Context, name string) Checked {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	start := time.Now()
	detail, err := c.Ask(ctx)
	out := Checked{Provider: name, Check: c.Name, Result: Fine, Detail: detail, Milliseconds: time.Since(start).Milliseconds()}
	var a aside
	switch {
	case err == nil:
		return out
	case errors.As(err, &a):
		out.Result = a.verdict
	default:
		out.Result = Failed
	}
	out.Detail = err.Error()
	if out.Result != Skipped {
		out.Action = c.Action
	}
	return out
}

// CheckLookup returns the detail and the error of a look-up of NoSuchReference. The only right answer
// is that the reference is missing.
func CheckLookup(a Answer) (string, error) {
	if !a.Missing {
		return "", fmt.Errorf("the reply does not say \"not found\": %s", words(a))
	}
	return "an unknown reference is reported as not found", nil
}

// words returns the outcome, the code and the message of an answer as one text.
func words(a Answer) string {
	text := a.Outcome.String() + ", code " + First(Text(a.Code), "none")
	if a.Message != "" {
		text += ": " + a.Message
	}
	return text
}

// CheckCatalogue walks down a biller's catalogue until a category has products, and counts them.
func CheckCatalogue(ctx context.Context, b Biller) (string, error) {
	services, err := b.Services(ctx)
	if err != nil {
		return "", err
	}
	if len(services) == 0 {
		return "", errors.New("the catalogue has no service")
	}
	for _, s := range services {
		if s.Kind != Data && s.Kind != CableTV {
			continue // airtime and power have no products
		}
		categories, err := b.Categories(ctx, s.Code)
		if err != nil {
			return "", err
		}
		for _, c := range categories {
			products, err := b.Products(ctx, s.Kind, c.Code)
			if err != nil {
				return "", err
			}
			if len(products) > 0 {
				return fmt.Sprintf("%d services; %s has %d products", len(services), c.Vendor, len(products)), nil
			}
		}
	}
	return "", Warn("%d services, but none of data or TV has a product", len(services))
}
