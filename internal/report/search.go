package report

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/money"
)

// Question is a text for which somebody searches, and what its shape says that it is.
type Question struct {
	// As says what the text looks like, such as "a session ID".
	As string
	// Where are the places in which Search looks. It is empty if it does not look at all.
	Where []string
	// Note says what Kobo does not search for, or "".
	Note string
	// Contact is phone or email if the text is one, in the form in which equal ones are equal. Otherwise it is "".
	Contact string
	// HasNames is true if the text may be the beginning of a person's name.
	HasNames bool

	text  string // normalised
	looks []lookUp
	// amount is that of an amount to or from an account.
	amount money.Kobo
}

// Hit is one thing that a search has found.
type Hit struct {
	// Kind is company, customer, card, settlement account, deposit address, person, operator, or a kind of Story.
	Kind        string
	Company, ID string
	Name        string // of a company, a person or a settlement account, or what a request was; otherwise ""
	Amount      money.Kobo
	At          time.Time
}

// lookUp finds things by a text. It returns at most atMost+1 things.
type lookUp func(ctx context.Context, q db.Querier, text string) ([]Hit, error)

// atMost is the number of things of one kind of look-up that a search shows.
const atMost = 5

var (
	uuidShape    = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	eventShape   = regexp.MustCompile(`^[a-z2-7]{20}$`)
	hashShape    = regexp.MustCompile(`^(0x)?[0-9a-f]{64}$`)
	addressShape = regexp.MustCompile(`^(0x[0-9a-fA-F]{40}|T[1-9A-HJ-NP-Za-km-z]{33}|(bc|tb|bcrt)1[02-9ac-hj-np-z]{11,87})$`)
	amountShape  = regexp.MustCompile(`^(₦ *[0-9][0-9,]*(\.[0-9]{1,2})?|[0-9]{1,3}(,[0-9]{3})+(\.[0-9]{1,2})?|[0-9]+\.[0-9]{1,2})$`)
	endShape     = regexp.MustCompile(`^(…|\.\.\.)[0-9a-zA-Z-]{4,}$`)
	digitsOnly   = regexp.MustCompile(`^[0-9]+$`)
)

// Ask reads the shape of a text. It looks nowhere. A text that may be a BVN, a card number or a secret is
// not kept in the Question.
func Ask(text string) Question {
	text = strings.Join(strings.Fields(text), " ")
	lower := strings.ToLower(text)
	switch {
	case utf8.RuneCountInString(text) < 4:
		return Question{As: "a short text", Note: "Type four characters or more."}
	case utf8.RuneCountInString(text) > 1000: // SQLite refuses a pattern of more than 50,000 bytes
		return Question{As: "a long text", Note: "Nothing in Kobo has so many characters."}
	case strings.HasPrefix(lower, "kobo_") || strings.HasPrefix(lower, "whsec_"):
		return Question{As: "a secret", Note: "That is a secret. Kobo does not search for secrets. If somebody else has seen it, revoke it: the page of the company lists its keys by their ends, and rotates the secret of a webhook."}
	case strings.Contains(text, "@"):
		return Question{As: "an e-mail address", Where: []string{"customers", "people who sign in"}, Contact: "email", text: lower, looks: []lookUp{byEmail, peopleByName}}
	case uuidShape.MatchString(lower) || eventShape.MatchString(lower):
		return Question{As: "an ID of Kobo", Where: []string{"payments", "bulk payouts", "approvals", "cases", "events", "proposals", "customers", "cards", "companies' own references", "references of providers", "requests", "idempotency keys"}, text: lower, looks: []lookUp{anythingByID, payoutsOfBulk, customersByID, cardsByID, byOwnReference, byProviderReference, byIdempotencyKey}}
	case id.IsLongCuid(lower): // a short one has the form of many names
		return Question{As: "the reference of a company", Where: []string{"companies"}, text: lower, looks: []lookUp{companyByReference}}
	case hashShape.MatchString(lower):
		return Question{As: "a transaction hash", Where: []string{"crypto deposits"}, text: lower, looks: []lookUp{byHash}}
	case addressShape.MatchString(text):
		return Question{As: "an address on a chain", Where: []string{"deposit addresses"}, text: text, looks: []lookUp{byAddress}}
	}
	if endShape.MatchString(text) {
		return Question{As: "the end of a reference", Note: endNote}
	}
	if asked, is := moneyOfAccount(text); is {
		return asked
	}
	if digits := strings.NewReplacer(" ", "", "-", "").Replace(strings.TrimPrefix(text, "+")); digitsOnly.MatchString(digits) {
		return number(digits, strings.HasPrefix(text, "+"))
	}
	if amountShape.MatchString(text) {
		return Question{As: "an amount", Note: "Search does not look for amounts. The list of payments has a filter for them."}
	}
	return Question{
		As: "a reference or a name", HasNames: true, text: text, Note: namesNote,
		Where: []string{"companies' own references", "references of providers", "cases", "requests", "idempotency keys", "companies", "people who sign in", "customers"},
		looks: []lookUp{byOwnReference, byProviderReference, casesAbout, byRequest, byIdempotencyKey, companyByReference, companiesByName, peopleByName, customersByName},
	}
}

const endNote = "Kobo looks references up whole. An index of their ends would cost each payment a write at a random place. " +
	"Copy the whole reference by the button beside it, or look in the list of payments by amount and day."

const namesNote = "Beneficiaries and senders are not looked up by name: an index of their names would cost each payment a write at a random place. " +
	"Look for the account number, or for the amount and the day."

// number reads the shape of a number without spaces and dashes.
func number(digits string, plus bool) Question {
	n := len(digits)
	switch {
	case n == 13 && strings.HasPrefix(digits, "234"):
		return phone("0" + digits[3:])
	case n == 11 && digits[0] == '0' && !plus:
		return phone(digits)
	case n == 11:
		out := meter(digits)
		if strings.HasPrefix(digits, "22") {
			return Question{As: out.As + ", or a BVN", Note: "Kobo does not search by BVN. Nothing was looked up, and the number was not kept."}
		}
		return out
	case isCard(digits):
		return Question{As: "a card number", Note: cardNote}
	case n == 30:
		return Question{
			As: "a session ID", Where: []string{"credits", "cases", "payouts"}, text: digits, looks: []lookUp{anythingByID, byProviderReference},
			Note: "A payout has no session ID while its outcome is unknown. Look for the account number.",
		}
	case n == 10:
		return Question{
			As: "an account number", Where: []string{"settlement accounts", "customers' accounts", "virtual accounts", "payouts to it", "credits from it", "smartcards and meters"},
			text: digits, looks: []lookUp{bankAccounts, customersByAccount, collectionsByAccount, payoutsTo, creditsFrom, byMeter},
		}
	}
	out := meter(digits)
	out.As, out.Where = "a number", append(out.Where, "companies' own references", "references of providers", "cases", "requests", "idempotency keys")
	out.looks = append(out.looks, byOwnReference, byProviderReference, casesAbout, byRequest, byIdempotencyKey)
	return out
}

func phone(national string) Question {
	return Question{
		As: "a phone number", Where: []string{"customers", "airtime and data"}, Contact: "phone", text: national,
		looks: []lookUp{byPhone, purchasesForPhone},
	}
}

func meter(digits string) Question {
	return Question{As: "a meter or smartcard number", Where: []string{"purchases of power and TV"}, text: digits, looks: []lookUp{byMeter}}
}

// isCard reports whether digits may be a card number.
func isCard(digits string) bool {
	return len(digits) >= 13 && len(digits) <= 19 && passesLuhn(digits)
}

// passesLuhn reports whether a number has the check digit of a card number.
func passesLuhn(digits string) bool {
	sum := 0
	for i := range len(digits) {
		d := int(digits[len(digits)-1-i] - '0')
		if i%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0
}

// Normal returns the text in the form in which the search compares it. It is "" if the text is not
// searched for.
func (a Question) Normal() string { return a.text }

// WithoutNames returns the question for somebody who may not look for people's names.
func (a Question) WithoutNames() Question {
	if !a.HasNames {
		return a
	}
	a.HasNames, a.Where, a.looks = false, slices.Clone(a.Where[:len(a.Where)-1]), slices.Clone(a.looks[:len(a.looks)-1])
	return a
}

// Search returns what a question finds, at most five of each place, and whether there is more. Each place
// is looked up by an index.
func (s *Service) Search(ctx context.Context, a Question) (hits []Hit, more bool, err error) {
	err = s.db.Snapshot(ctx, func(q db.Querier) error {
		hits, more = nil, false // a snapshot may begin again
		for _, l := range a.looks {
			found, err := l(ctx, q, a.text)
			if err != nil {
				return err
			}
			if len(found) > atMost {
				found, more = found[:atMost], true
			}
			for _, h := range found {
				if !slices.ContainsFunc(hits, func(o Hit) bool { return o.Kind == h.Kind && o.Company == h.Company && o.ID == h.ID }) {
					hits = append(hits, h)
				}
			}
		}
		return nil
	})
	return hits, more, err
}
