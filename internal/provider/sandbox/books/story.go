package books

import (
	"context"
	"errors"
	"net/http"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
)

// A story is a test scenario for one request. The last two digits of a number in the request choose
// one of these stories (completion.md §5). With any other digits the request succeeds immediately.
const (
	DefiniteNo       = "01"
	DoneAnswerLost   = "02"
	UndoneAnswerLost = "03"
	DoneFault        = "04" // HTTP 500, and executed
	UndoneFault      = "05" // HTTP 500, and not executed
	PendingThenDone  = "06"
	PendingThenNo    = "07"
	PendingForEver   = "08" // stays pending until operators decide
)

// NotFound is the ending of the number of a smartcard, a meter or an account that does not exist.
const NotFound = "99"

// Endings lists all endings with a meaning. The numbers of the accounts that a provider opens never
// have these endings.
var Endings = []string{
	DefiniteNo, DoneAnswerLost, UndoneAnswerLost, DoneFault, UndoneFault, PendingThenDone, PendingThenNo, PendingForEver, NotFound,
}

// These are the states of a request.
const (
	Pending    = "pending"
	Successful = "successful"
	Failed     = "failed"
)

// Unknown is the state of a reference of which a provider has no request. It is the state of a Row only.
const Unknown = "unknown"

// Story is the state of one request: whether the provider carries it out, and how the provider
// responds.
type Story struct {
	Ending     string `db:"ending"` // the last two digits of the number
	Status     string `db:"status,changes"`
	Executions int64  `db:"executions,changes"` // 1 if the provider carried the request out, else 0
	Requests   int64  `db:"requests"`           // the number of times that the client sent the request
	Polls      int64  `db:"polls,changes"`      // the number of requeries while the request was pending
}

// StoryRule is the SQL constraint of a table whose rows have a Story and an amount.
const StoryRule = "CHECK (status IN ('pending', 'successful', 'failed') AND executions IN (0, 1) AND amount_kobo > 0)"

// Begin sets the story that the last two digits of the number choose. It returns false if the
// provider does not record the request at all.
func (s *Story) Begin(number string) bool {
	s.Ending, s.Requests = number[max(0, len(number)-2):], 1
	switch s.Ending {
	case UndoneAnswerLost, UndoneFault:
		return false
	case DefiniteNo:
		s.Status = Failed
	case PendingThenDone, PendingThenNo, PendingForEver:
		s.Status = Pending
	default:
		s.Status, s.Executions = Successful, 1
	}
	return true
}

// poll counts one requery of a pending request. The second requery gives the request its final
// status, unless its story is PendingForEver.
func (s *Story) poll() {
	if s.Polls++; s.Polls < 2 || s.Ending == PendingForEver {
		return
	}
	if s.Ending == PendingThenDone {
		s.Status, s.Executions = Successful, 1
		return
	}
	s.Status = Failed
}

// Row is a request as /sandbox/provider-ledger reports it.
type Row struct {
	Reference  string     `json:"reference"`
	Kind       string     `json:"kind"`
	Amount     money.Kobo `json:"amount"`
	Status     string     `json:"status"`
	Number     string     `json:"number"`
	Bank       string     `json:"bank,omitempty"` // of a payout: the code of the bank that was paid
	Executions int64      `json:"executions"`
	Requests   int64      `json:"requests"`
	Denied     int64      `json:"denied"` // the number of replies "no such reference" before
	CreatedAt  string     `json:"createdAt,omitempty"`
	At         int64      `json:"-"`
}

// Row returns the request as a Row, with its number masked.
func (s *Story) Row(reference, kind string, amount money.Kobo, number string, at int64) Row {
	return Row{
		Reference: reference, Kind: kind, Amount: amount, Status: s.Status, Number: masked(number),
		Executions: s.Executions, Requests: s.Requests, CreatedAt: Text(at), At: at,
	}
}

// Reply responds to a request as its story requires. If the story has no special response, Reply
// calls usual.
func (b *Books) Reply(w http.ResponseWriter, r *http.Request, s Story, refusal string, usual func()) {
	switch s.Ending {
	case DefiniteNo:
		b.Decline(w, http.StatusBadRequest, refusal)
	case DoneAnswerLost, UndoneAnswerLost:
		b.Lose(w, r)
	case DoneFault, UndoneFault:
		Fail(w)
	default:
		usual()
	}
}

// TellNext returns a Control, whose request body is such as {"story": "02"}. It sets the story of
// the next request of this kind. It is for kinds of requests that contain no number.
func (b *Books) TellNext(kind string) Control {
	return Steer(func(ctx context.Context, req struct {
		Story string `json:"story"`
	},
	) (any, error) {
		switch req.Story {
		case DefiniteNo, DoneAnswerLost, UndoneAnswerLost, DoneFault, UndoneFault:
			return Success, b.Set(ctx, kind, req.Story)
		}
		return nil, Complaint(`"story" must be one of [01, 02, 03, 04, 05]`)
	})
}

// TakeNext removes and returns the value that a control request has set for the next request of
// this kind. It returns "" if there is no value.
func (b *Books) TakeNext(ctx context.Context, kind string) (value string, err error) {
	err = b.Tx(ctx, func(q db.Querier) error {
		value, err = db.One(ctx, q, db.Value[string], `SELECT value FROM sandbox_setting WHERE name = $1`, kind)
		if errors.Is(err, db.ErrNone) {
			return nil
		}
		if err == nil {
			_, err = q.Exec(ctx, `DELETE FROM sandbox_setting WHERE name = $1`, kind)
		}
		return err
	})
	return value, err
}
