package operation_test

import (
	"context"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
)

// telling is a reply without an outcome that says what the replies after it do not say again.
var telling = provider.Answer{
	Found: true, Code: "pending", Reference: "theirs", Token: "1234-5678", Meter: provider.MeterCodes{Units: "79.9 kWh"},
}

// tells makes the resolver of a second program, whose clock is a minute ahead, hear the telling reply.
func (p *plant) tells(o operation.Operation) {
	p.t.Helper()
	other := p.ahead(func(operation.Operation) provider.Answer { return telling })
	_, err := other.Resolve(p.t.Context(), job.Job{Company: o.Company, Kind: operation.ResolveJob, Subject: o.ID})
	p.must(err)
}

// While a first call or a requery is under way, another program hears an id and a token. The reply that comes late has
// neither, and wipes out nothing, whether it has an outcome or not.
func TestALateReplyWipesOutNothing(t *testing.T) {
	for name, late := range map[string]struct {
		say  provider.Answer
		want operation.State
	}{
		"no outcome": {silence, operation.Pending},
		"confirmed":  {provider.Answer{Outcome: provider.Confirmed, Code: "00"}, operation.Success},
		"rejected":   {rejected, operation.Failed},
	} {
		for by, hear := range map[string]func(p *plant) operation.Operation{
			"the first call": func(p *plant) operation.Operation {
				o := p.begin()
				_, err := p.Run(p.t.Context(), o, func(context.Context) provider.Answer {
					p.tells(o)
					return late.say
				}, nil)
				p.must(err)
				return o
			},
			"a requery": func(p *plant) operation.Operation {
				o := p.unknown()
				p.clock.Advance(time.Minute)
				p.answer = func(operation.Operation) provider.Answer {
					p.tells(o)
					return late.say
				}
				p.poll(o)
				return o
			},
			"an operator's question": func(p *plant) operation.Operation {
				o := p.unknown()
				p.clock.Advance(time.Minute)
				p.answer = func(operation.Operation) provider.Answer {
					p.tells(o)
					a := late.say
					a.Found = true
					return a
				}
				_, err := p.askNow(o)
				p.must(err)
				return o
			},
		} {
			t.Run(name+" by "+by, func(t *testing.T) {
				each(t, func(t *testing.T, p *plant) {
					now := p.stands(hear(p), late.want)
					if now.ProviderReference != telling.Reference || now.Token != telling.Token || now.Codes != telling.Meter.Text() {
						t.Errorf("after the late reply: %+v", now)
					}
				})
			})
		}
	}
}

// The provider has named an id while the first call was under way, and that call ended without a reply. If the provider
// does not find our reference later, nothing is refunded, and the resolver's schedule goes on.
func TestAnIdHeardDuringTheFirstCallCounts(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		o := p.begin()
		after, err := p.Run(t.Context(), o, func(context.Context) provider.Answer {
			p.tells(o)
			return silence
		}, nil)
		p.must(err)
		if after.Polls != 1 || after.Code != silence.Code || !after.NextAt.Equal(p.clock.Now().Add(30*time.Second)) {
			t.Errorf("after the call: %+v", after)
		}
		p.says(missing)
		for next := after.NextAt; next.Sub(o.CreatedAt) < time.Hour; {
			p.clock.Advance(next.Sub(p.clock.Now()))
			if next = p.poll(o); next.IsZero() {
				t.Fatal("nobody asks any more")
			}
			p.stands(o, operation.Pending)
		}
		if cases := p.open(); len(cases) != 1 || cases[0].Reason != operation.Unresolved {
			t.Errorf("cases: %+v", cases)
		}
	})
}

// A reply that has no outcome, but an id or the word that the reference was used before, is written as soon as the
// database is back. Otherwise the reply "no such reference" would refund the operation.
func TestATellingReplyWaitsForTheDatabase(t *testing.T) {
	for name, c := range map[string]struct {
		say   provider.Answer
		tries int
	}{
		"an id": {provider.Answer{Code: "queued", Reference: "theirs"}, 2}, "a duplicate": {provider.Answer{Code: provider.CodeDuplicate}, 2},
		"another reference": {provider.Answer{Code: provider.CodeOther}, 2}, "nothing": {silence, 1},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, p *plant) {
				if p.db.Dialect() == db.SQLite {
					return // no trigger of SQLite can say that the disk is full
				}
				change := func(statement string) {
					_, err := p.db.Exec(t.Context(), statement)
					p.must(err)
				}
				change(`CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION USING ERRCODE = ''53100'', MESSAGE = ''the disk is full''; END'`)
				change(`CREATE TRIGGER no_room BEFORE INSERT ON operation_answer FOR EACH ROW EXECUTE FUNCTION no_room()`)
				o, tries := p.begin(), 0
				_, err := p.Run(t.Context(), o, func(context.Context) provider.Answer { return c.say }, func(operation.Operation, *ledger.Unit) {
					if tries++; tries == 2 {
						change(`DROP TRIGGER no_room ON operation_answer`)
					}
				})
				if tries != c.tries || (err == nil) != (c.tries == 2) {
					t.Errorf("%d tries, %v", tries, err)
				}
				now := p.stands(o, operation.Pending)
				if c.tries == 2 && (now.Code != c.say.Code || now.ProviderReference != c.say.Reference) {
					t.Errorf("written: %+v", now)
				}
			})
		})
	}
}
