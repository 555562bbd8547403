package company_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/secret"
)

// house is a company service with its database, ledger and clock.
type house struct {
	*company.Service
	t     *testing.T
	db    *db.DB
	book  *ledger.Book
	clock *clock.Manual
	log   *operator.Service
}

var ada = operator.Operator{Name: "ada"}

const masterKey = "old:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8\n"

func open(t *testing.T, d *db.DB) *house {
	t.Helper()
	clk := clock.At(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC))
	h := &house{t: t, db: d, book: ledger.New(d, clk), clock: clk}
	t.Cleanup(h.book.Drain)
	h.Service = h.with(masterKey)
	return h
}

// with returns a service with a different keyring on the same database, as after a restart.
func (h *house) with(keyring string) *company.Service {
	h.t.Helper()
	keys, err := secret.Parse(keyring)
	if err != nil {
		h.t.Fatal(err)
	}
	h.log = operator.New(h.db, keys, h.clock)
	s := company.New(h.db, h.book, keys, h.clock)
	s.Self = func(ctx context.Context, reference string) company.Actor { return operator.Self(reference).From(ctx) }
	return s
}

func (h *house) create() (reference, apiKey string) {
	h.t.Helper()
	c, key, err := h.Create(h.t.Context(), ada, "Acme Ltd")
	if err != nil {
		h.t.Fatal(err)
	}
	return c.Reference, key.Reveal()
}

// approved returns a company that may use the API.
func (h *house) approved() (reference, apiKey string) {
	h.t.Helper()
	reference, apiKey = h.create()
	h.move(reference, company.InProgress, company.Submitted, company.Approved)
	h.live(reference, true)
	return reference, apiKey
}

func (h *house) move(reference string, path ...company.KYB) {
	h.t.Helper()
	for _, to := range path {
		if _, err := h.SetKYB(h.t.Context(), ada, reference, to, ""); err != nil {
			h.t.Fatal(err)
		}
	}
}

func (h *house) live(reference string, live bool) {
	h.t.Helper()
	if _, err := h.SetLive(h.t.Context(), ada, reference, live); err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) tokens(reference, apiKey string) (access, refresh string) {
	h.t.Helper()
	access, refresh, err := h.Tokens(h.t.Context(), reference, apiKey)
	if err != nil {
		h.t.Fatal(err)
	}
	return access, refresh
}

// refused fails the test unless err is a fault of this kind with this message.
func refused(t *testing.T, what string, err error, kind fault.Kind, message string) {
	t.Helper()
	if f := fault.Of(err); f == nil || f.Kind != kind || f.Message != message {
		t.Errorf("%s: %v; want %s: %s", what, err, kind, message)
	}
}

// each runs a test on both databases.
func each(t *testing.T, f func(t *testing.T, h *house)) {
	t.Helper()
	dbtest.Each(t, func(t *testing.T, d *db.DB) { f(t, open(t, d)) })
}

func TestANewCompany(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		c, key, err := h.Create(t.Context(), ada, "  Acme Ltd ")
		if err != nil {
			t.Fatal(err)
		}
		if !id.IsCuid(c.Reference) || c.Name != "Acme Ltd" || c.KYB != company.NotStarted || c.Live {
			t.Errorf("made %+v", c)
		}
		if found, err := h.Find(t.Context(), c.Reference); err != nil || found != c {
			t.Errorf("found %+v, %v; want %+v", found, err, c)
		}
		if !strings.HasPrefix(key.Reveal(), "kobo_test_") || len(key.Reveal()) != len("kobo_test_")+43 {
			t.Error("the API key does not hold 256 bits behind its prefix")
		}
		_, err = h.Find(t.Context(), id.Cuid())
		refused(t, "unknown", err, fault.Missing, "Company not found")
		for _, name := range []string{"", " a ", "\u200b\u200b", "\u2800\u3164", strings.Repeat("é", 101)} {
			_, _, err := h.Create(t.Context(), ada, name)
			refused(t, "name", err, fault.Invalid, `"name" must have 2 to 100 characters`)
		}
	})
}

func TestCompaniesArePagedNewestFirst(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		for i := range 5 {
			h.clock.Advance(time.Second)
			if _, _, err := h.Create(t.Context(), ada, fmt.Sprintf("company %d", i)); err != nil {
				t.Fatal(err)
			}
		}
		got, total, err := h.List(t.Context(), company.Filter{}, 2, 2)
		if err != nil || total != 5 || len(got) != 2 || got[0].Name != "company 2" || got[1].Name != "company 1" {
			t.Errorf("the third and fourth: %+v of %d, %v", got, total, err)
		}
	})
}

// KYB changes along the legal transitions only. The test tries every pair of states.
func TestKYBTransitions(t *testing.T) {
	all := []company.KYB{
		company.NotStarted, company.InProgress, company.Submitted, company.ChangesRequested, company.Rejected, company.Approved,
	}
	legal := map[company.KYB][]company.KYB{
		company.NotStarted:       {company.InProgress},
		company.InProgress:       {company.Submitted},
		company.Submitted:        {company.Approved, company.Rejected, company.ChangesRequested},
		company.ChangesRequested: {company.Submitted},
		company.Approved:         {company.ChangesRequested, company.Rejected},
		company.Rejected:         {company.InProgress},
	}
	way := map[company.KYB][]company.KYB{
		company.NotStarted:       nil,
		company.InProgress:       {company.InProgress},
		company.Submitted:        {company.InProgress, company.Submitted},
		company.ChangesRequested: {company.InProgress, company.Submitted, company.ChangesRequested},
		company.Rejected:         {company.InProgress, company.Submitted, company.Rejected},
		company.Approved:         {company.InProgress, company.Submitted, company.Approved},
	}
	each(t, func(t *testing.T, h *house) {
		for _, from := range all {
			for _, to := range all {
				reference, _ := h.create()
				h.move(reference, way[from]...)
				c, err := h.SetKYB(t.Context(), ada, reference, to, "a reason")
				ok := false
				for _, l := range legal[from] {
					ok = ok || l == to
				}
				if ok && (err != nil || c.KYB != to) {
					t.Errorf("%s → %s: %+v, %v", from, to, c, err)
				}
				if !ok {
					refused(t, "move", err, fault.Refused, fmt.Sprintf("KYB cannot move from %s to %s", from, to))
				}
			}
		}
		_, err := h.SetKYB(t.Context(), ada, id.Cuid(), company.InProgress, "")
		refused(t, "unknown company", err, fault.Missing, "Company not found")
		reference, _ := h.create()
		if _, err := h.SetKYB(t.Context(), ada, reference, "DONE", ""); !fault.Is(err, fault.Invalid) {
			t.Errorf("unknown state: %v", err)
		}
	})
}

func TestAChangeOfKYBEmitsAnEventAndAnAuditLine(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		reference, _ := h.create()
		h.move(reference, company.InProgress, company.Submitted)
		if _, err := h.SetKYB(t.Context(), ada, reference, company.ChangesRequested, "the address is missing"); err != nil {
			t.Fatal(err)
		}
		if _, err := h.SetKYB(t.Context(), ada, reference, company.Approved, ""); err == nil {
			t.Fatal("an illegal move")
		}
		events, _, err := event.NewService(h.db, h.book).Feed(t.Context(), reference, 0, 10, 0)
		if err != nil || len(events) != 3 {
			t.Fatalf("%d events, %v", len(events), err)
		}
		var data map[string]string
		if err := json.Unmarshal(events[2].Data, &data); err != nil || events[2].Kind != "kyb.changed" || events[2].Sequence != 3 ||
			data["kybStatus"] != "CHANGES_REQUESTED" || data["reason"] != "the address is missing" || data["companyId"] != reference {
			t.Errorf("event %+v %v, %v", events[2], data, err)
		}
		lines, total, err := h.log.Audit(t.Context(), reference, 10, 0)
		if err != nil || total != 4 {
			t.Fatalf("%d lines, %v", total, err)
		}
		if l := lines[0]; l.Operator != "ada" || l.Action != "company.kyb" || l.Subject != reference || l.Details["status"] != "CHANGES_REQUESTED" {
			t.Errorf("line %+v", l)
		}
	})
}

func TestSetLiveDuringChangesOfKYB(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		reference, _ := h.create()
		done := make(chan error, 10)
		for range 10 {
			go func() {
				_, err := h.SetLive(context.Background(), ada, reference, true)
				done <- err
			}()
		}
		h.move(reference, company.InProgress, company.Submitted, company.Approved)
		for range 10 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if c, err := h.Find(t.Context(), reference); err != nil || !c.Live || c.KYB != company.Approved {
			t.Errorf("%+v, %v", c, err)
		}
		_, err := h.SetLive(t.Context(), ada, id.Cuid(), true)
		refused(t, "unknown", err, fault.Missing, "Company not found")
	})
}

// A form that is sent twice adds one company. The second time nothing can show its key, and the refusal names the company.
func TestAFormAddsOneCompany(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		ctx, by := t.Context(), ada.Sending(id.New())
		c, _, err := h.Create(ctx, by, "Acme Ltd")
		if err != nil {
			t.Fatal(err)
		}
		_, _, again := h.Create(ctx, by, "Acme Ltd")
		_, _, token := h.CreateWithToken(ctx, by, "Acme Ltd")
		for _, err := range []error{again, token} {
			if !fault.Is(err, fault.Conflict) || !strings.Contains(fault.Of(err).Message, c.Reference) {
				t.Errorf("the same form: %v", err)
			}
		}
		for _, by := range []operator.Operator{ada, ada, ada.Sending(id.New())} {
			if other, _, err := h.Create(ctx, by, "Acme Ltd"); err != nil || other.Reference == c.Reference || !id.IsCuid(other.Reference) {
				t.Errorf("another form: %+v, %v", other, err)
			}
		}
		if keys, err := h.Keys(ctx, c.Reference); err != nil || len(keys) != 1 {
			t.Errorf("%+v, %v", keys, err)
		}
	})
}

// A form adds one company, also if a program that gives long references has got it, and then one that gives short ones.
func TestAFormAddsOneCompanyWhileReferencesBecomeShort(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		ctx, by := t.Context(), ada.Sending(id.New())
		c, _, err := h.Create(ctx, by, "Acme Ltd")
		if err != nil || len(c.Reference) != 25 {
			t.Fatalf("%+v, %v", c, err)
		}
		if err := h.db.Fits(ctx); err != nil || !h.db.HasShortReferences() { // as the next start
			t.Fatal(err)
		}
		if _, _, err := h.Create(ctx, by, "Acme Ltd"); !fault.Is(err, fault.Conflict) || !strings.Contains(fault.Of(err).Message, c.Reference) {
			t.Errorf("the same form: %v", err)
		}
		if other, _, err := h.CreateWithToken(ctx, ada, "Acme Ltd"); err != nil || len(other.Reference) != 10 {
			t.Errorf("another company: %+v, %v", other, err)
		}
	})
}

// taker is a founder who gets a certain reference.
type taker struct {
	operator.Operator
	reference string
}

func (f taker) NewReference(short bool) string {
	if short {
		return id.Cuid()
	}
	return f.reference
}

// If a new company gets the reference of another one by chance, the refusal does not name the other one. Otherwise somebody
// might make a key of it for the new company.
func TestAReferenceIsTaken(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		c, _, err := h.Create(t.Context(), ada, "Acme Ltd")
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = h.Create(t.Context(), taker{ada, c.Reference}, "Bola Ltd")
		if !fault.Is(err, fault.Conflict) || strings.Contains(err.Error(), c.Reference) {
			t.Errorf("%v", err)
		}
		if found, err := h.Find(t.Context(), c.Reference); err != nil || found.Name != "Acme Ltd" {
			t.Errorf("%+v, %v", found, err)
		}
	})
}
