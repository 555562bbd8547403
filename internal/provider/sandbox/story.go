package sandbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"strconv"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
)

// The stories a number tells by its last two digits (completion.md §5). Any
// other ending is delivered at once.
const (
	definiteNo       = "01"
	doneAnswerLost   = "02"
	undoneAnswerLost = "03"
	doneFault        = "04" // HTTP 500, and executed
	undoneFault      = "05" // HTTP 500, and not executed
	pendingThenDone  = "06"
	pendingThenNo    = "07"
	pendingForEver   = "08" // ours: what only a human can decide
)

// The states of a sale, in the provider's words.
const (
	pending    = "pending"
	successful = "successful"
	failed     = "failed"
)

// story is how one request goes: what was done, and what is said of it.
type story struct {
	ending     string // of the number that decides
	status     string
	executions int64 // how often it was really carried out: 0 or 1
	requests   int64 // how often it was asked for
	polls      int64 // how often it was asked about while pending
}

// tell begins the story of a number, and says whether the request enters the
// books at all.
func (v *story) tell(number string) bool {
	v.ending = number[max(0, len(number)-2):]
	switch v.ending {
	case undoneAnswerLost, undoneFault:
		return false
	case definiteNo:
		v.status = failed
	case pendingThenDone, pendingThenNo, pendingForEver:
		v.status = pending
	default:
		v.status, v.executions = successful, 1
	}
	return true
}

// poll is one question about a request that is pending: at the second one it is
// settled, if it ever is.
func (v *story) poll() {
	if v.polls++; v.polls < 2 || v.ending == pendingForEver {
		return
	}
	if v.ending == pendingThenDone {
		v.status, v.executions = successful, 1
		return
	}
	v.status = failed
}

// reply answers a request as its story wants, or leaves it to usual.
func (s *Sandbox) reply(w http.ResponseWriter, r *http.Request, v story, refusal string, usual func()) {
	switch v.ending {
	case definiteNo:
		s.decline(w, http.StatusBadRequest, refusal)
	case doneAnswerLost, undoneAnswerLost:
		s.lose(w, r)
	case doneFault, undoneFault:
		broken(w)
	default:
		usual()
	}
}

// sale is one purchase in the pretend provider's books.
type sale struct {
	story
	reference   string // the caller's
	id          string // ours, 24 hex digits
	kind        string // airtime, data, cable-tv or utility
	category    string
	product     string
	productName string
	number      string
	amount      money.Kobo
	token       string // for a prepaid meter
	createdAt   int64
	updatedAt   int64
}

// saleID and the like are made from the reference, so that a sale looks the
// same whenever it is asked for.
func saleID(reference string) string     { return digest("id", reference)[:24] }
func saleNumber(reference string) string { return digest("reference", reference)[:32] }

// meterToken is twenty digits.
func meterToken(reference string) string {
	n, err := strconv.ParseUint(digest("token", reference)[:15], 16, 64)
	if err != nil {
		return ""
	}
	digits := strconv.FormatUint(n, 10)
	return ("00000000000000000000" + digits)[len(digits):]
}

func digest(what, reference string) string {
	sum := sha256.Sum256([]byte(what + "\x00" + reference))
	return hex.EncodeToString(sum[:])
}

// record is the sale as GET /vas/transaction shows it.
func (v *sale) record() map[string]any {
	var reversal any
	if v.status == failed && v.polls > 0 {
		reversal = "rev-" + v.id
	}
	c := categoryByID[v.category]
	out := map[string]any{
		"_id":                      v.id,
		"serviceCategoryId":        map[string]any{"_id": c.id, "name": c.name},
		"serviceId":                map[string]any{"_id": c.service.id, "name": c.service.name},
		"productName":              v.productName,
		"reference":                saleNumber(v.reference),
		"externalReference":        v.reference,
		"internalReference":        "int-" + v.id,
		"debitPaymentReference":    "dbt-" + v.id,
		"reversalPaymentReference": reversal,
		"transactionId":            "vend-" + v.id,
		"transactionStatus":        v.status,
		"paymentStatus":            "successful",
		"receiverNumber":           v.number,
		"vasType":                  c.service.identifier,
		"channel":                  "WEB",
		"vendor":                   vendorID,
		"transactionFee":           0,
		"debitedAmount":            v.amount,
		"transactionAmount":        v.amount,
		"createdAt":                clock.Text(clock.Time(v.createdAt)),
		"updatedAt":                clock.Text(clock.Time(v.updatedAt)),
	}
	if v.token != "" && v.status == successful {
		out["utilityToken"] = v.token
	}
	return out
}

// What has no number that could tell a story, and is told one beforehand.
const (
	nextCard    = "next card"
	nextAccount = "next account"
)

// tellNext is POST /sandbox/next-card or next-account {"story": "02"}: how the
// next creation of one goes.
func (s *Sandbox) tellNext(what string) func(*http.Request) (any, error) {
	return func(r *http.Request) (any, error) {
		var req struct {
			Story string `json:"story"`
		}
		if err := readBody(r, &req); err != nil {
			return nil, err
		}
		switch req.Story {
		case definiteNo, doneAnswerLost, undoneAnswerLost, doneFault, undoneFault:
		default:
			return nil, complaint(`"story" must be one of [01, 02, 03, 04, 05]`)
		}
		return map[string]any{"status": "success"}, s.set(r.Context(), what, req.Story)
	}
}

// takeNext is the story of this creation, told once.
func (s *Sandbox) takeNext(ctx context.Context, what string) (ending string, err error) {
	err = s.books.Tx(ctx, func(q db.Querier) error {
		ending, err = db.One(ctx, q, db.Value[string], `SELECT value FROM sandbox_setting WHERE name = $1`, what)
		if errors.Is(err, db.ErrNone) {
			return nil
		}
		if err == nil {
			_, err = q.Exec(ctx, `DELETE FROM sandbox_setting WHERE name = $1`, what)
		}
		return err
	})
	return ending, err
}
