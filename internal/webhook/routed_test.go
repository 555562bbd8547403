package webhook

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/secret"
)

// After a commit of one company, a routed database gets no query over several companies until the
// event is sent. The sender reads the queues of all companies only from time to time, and such a read
// may fall into a run of the test. So the test counts the runs without one.
func TestACommitCausesNoReadOfOtherCompanies(t *testing.T) {
	d, since := dbtest.Recorded(t, db.Pools{Routed: true})
	fanOuts := dbtest.FanOuts(t, func(string) bool { return true })
	keys, err := secret.Parse(secret.Generate())
	must(t, err)
	w := newWorld(t, d, &clock.Movable{}, keys)
	company, r, said := id.Cuid(), newReceiver(t), make(chan []string, 1)
	r.set(func(w http.ResponseWriter, _ received) {
		said <- since()
		w.WriteHeader(http.StatusNoContent)
	})
	w.found(company)
	w.endpoint(company, r.URL)
	w.start()
	clean := 0
	for range 30 {
		since()
		w.tell(company, event.VTUSuccess, 1)
		list := <-said
		if !strings.Contains(strings.Join(list, "\n"), "FROM webhook_lane WHERE company_id = $1") {
			continue // the visit of the event before has found this one too
		}
		found := fanOuts(list)
		if len(found) == 0 {
			clean++
		}
		for _, s := range found {
			if !strings.HasPrefix(s, "SELECT l.company_id, l.endpoint_id") && !strings.Contains(s, "FROM ledger_head WHERE company_id = ANY($1)") {
				t.Errorf("after a commit: %s", s)
			}
		}
	}
	if clean < 10 {
		t.Errorf("after %d of 30 commits there was no query over several companies", clean)
	}
}

// A routed database gets no read after a commit of a company that had no queue at the last read. If another program makes the first queue of such a
// company, the sender finds it at its next poll.
func TestACompanyWithoutEndpointsIsReadOnce(t *testing.T) {
	d, since := dbtest.Recorded(t, db.Pools{Routed: true})
	keys, err := secret.Parse(secret.Generate())
	must(t, err)
	w := newWorld(t, d, &clock.Movable{}, keys)
	other := newWorld(t, d, w.clock, keys)
	w.Book.Committed(w.wake)
	round := func() {
		w.round(t.Context())
		w.sender.visits.Wait()
	}
	isRead := func(what string, want bool, commit func()) {
		t.Helper()
		round() // the end of a visit wakes its company once more
		since()
		commit()
		round()
		got := slices.ContainsFunc(since(), func(s string) bool { return strings.Contains(s, "FROM webhook_lane WHERE company_id = $1") })
		if got != want {
			t.Errorf("%s: the queues were read: %t", what, got)
		}
	}
	tell := func(company string) func() { return func() { w.tell(company, event.VTUSuccess, 1) } }
	own, foreign, r := id.Cuid(), id.Cuid(), newReceiver(t)
	for _, company := range []string{own, foreign} {
		isRead("the first commit", true, func() { w.found(company) })
		isRead("the second commit", false, tell(company))
	}
	w.endpoint(own, r.URL)
	isRead("with an endpoint", true, tell(own))
	round()
	other.endpoint(foreign, r.URL)
	isRead("with an endpoint of another program", false, tell(foreign))
	if got := r.sequences(); got != "[2]" {
		t.Errorf("before the poll: %s", got)
	}
	must(t, w.poll(t.Context()))
	w.sender.visits.Wait()
	isRead("after the poll", true, tell(foreign))
	if got := r.sequences(); got != "[2 2 3]" {
		t.Errorf("after the poll: %s", got)
	}
}

// If the poll fails, as it does while a node is away, the sender reads the companies that have had a commit since the last poll. So the
// first event of a company with a new endpoint is sent although no poll has found the endpoint.
func TestAPollThatFailsReadsTheCompaniesOfTheLastCommits(t *testing.T) {
	keys, err := secret.Parse(secret.Generate())
	must(t, err)
	w := newWorld(t, dbtest.OpenWith(t, dbtest.URL(t, db.Postgres), db.Pools{Routed: true}), &clock.Movable{}, keys)
	other := newWorld(t, w.db, w.clock, keys)
	w.Book.Committed(w.wake)
	known, quiet, broken, r := id.Cuid(), id.Cuid(), id.Cuid(), newReceiver(t)
	for _, company := range []string{known, quiet, broken} {
		w.found(company)
	}
	w.round(t.Context())
	w.sender.visits.Wait() // the sender has learnt that none has a queue
	w.endpoint(known, r.URL)
	other.endpoint(quiet, r.URL)
	other.endpoint(broken, r.URL)
	for _, statement := range []string{
		`ALTER TABLE webhook_endpoint ALTER failures DROP NOT NULL`,
		`UPDATE webhook_endpoint SET failures = NULL WHERE company_id = '` + broken + `'`,
	} {
		_, err := w.db.Exec(t.Context(), statement)
		must(t, err)
	}
	w.tell(known, event.VTUSuccess, 1)
	w.tell(quiet, event.VTUSuccess, 2)
	if err := w.poll(t.Context()); err == nil {
		t.Error("the poll has not failed")
	}
	w.round(t.Context())
	w.sender.visits.Wait()
	if got := len(r.all()); got != 3 {
		t.Errorf("%d events were sent", got)
	}
}

// A node that does not respond keeps only its own companies waiting. Here a lock holds back the lease of its queue, first for a poll
// and then for the read after a commit.
func TestANodeThatHangsDelaysNoOtherNode(t *testing.T) {
	keys, err := secret.Parse(secret.Generate())
	must(t, err)
	place := func(company string) string { return company[:1] }
	w := newWorld(t, dbtest.OpenWith(t, dbtest.URL(t, db.Postgres), db.Pools{Routed: true, Place: place}), &clock.Movable{}, keys)
	w.Book.Committed(w.wake)
	hangs, works := "h"+id.Cuid()[1:], "w"+id.Cuid()[1:]
	sent := map[string]chan int64{hangs: make(chan int64, 9), works: make(chan int64, 9)}
	for company, numbers := range sent {
		r := newReceiver(t)
		r.set(func(to http.ResponseWriter, m received) {
			numbers <- m.Sequence
			to.WriteHeader(http.StatusNoContent)
		})
		w.found(company)
		w.endpoint(company, r.URL)
		w.tell(company, event.VTUSuccess, 1)
	}
	for number, read := range []func(){
		func() { must(t, w.poll(t.Context())) },
		func() { w.round(t.Context()) },
	} {
		must(t, w.db.Tx(t.Context(), func(q db.Querier) error {
			_, err := q.Exec(t.Context(), `UPDATE webhook_lane SET through = through WHERE company_id = $1`, hangs)
			must(t, err)
			read()
			if got := <-sent[works]; got != int64(number)+1 {
				t.Errorf("beside the node that hangs: event %d", got)
			}
			select {
			case <-sent[hangs]:
				t.Error("the node does not hang")
			default:
			}
			return nil
		}))
		if got := <-sent[hangs]; got != int64(number)+1 {
			t.Errorf("after the end of the lock: event %d", got)
		}
		w.sender.visits.Wait()
		for company := range sent {
			w.tell(company, event.VTUSuccess, 1)
		}
	}
}

// With several companies at several nodes, a routed database sends the events of each.
func TestARoutedDatabaseSendsTheEventsOfEachCompany(t *testing.T) {
	keys, err := secret.Parse(secret.Generate())
	must(t, err)
	place := func(company string) string { return company[len(company)-1:] }
	w := newWorld(t, dbtest.OpenWith(t, dbtest.URL(t, db.Postgres), db.Pools{Routed: true, Place: place}), &clock.Movable{}, keys)
	r := newReceiver(t)
	var endpoints []Endpoint
	for range 5 {
		company := id.Cuid()
		w.found(company)
		endpoints = append(endpoints, w.endpoint(company, r.URL))
	}
	w.start()
	for _, e := range endpoints {
		w.tell(e.Company, event.VTUSuccess, 5)
	}
	w.settle(0)
	for _, e := range endpoints {
		if got := len(w.sent(e, Delivered)); got != 5 {
			t.Errorf("%s got %d events", e.Company, got)
		}
	}
}

// A routed database has the same idle queues as one server, although it reads the queues and the endpoints apart.
func TestARoutedDatabaseHasTheSameIdleQueues(t *testing.T) {
	url := dbtest.URL(t, db.Postgres)
	keys, err := secret.Parse(secret.Generate())
	must(t, err)
	w := newWorld(t, dbtest.OpenWith(t, url, db.Pools{}), &clock.Movable{}, keys)
	routed := newWorld(t, dbtest.OpenWith(t, url, db.Pools{Routed: true}), w.clock, keys)
	var companies []string
	now := w.Clock.Now()
	early, late := clock.Micros(now)-1, clock.Micros(now)+1
	for _, state := range []State{Active, Failing, Paused, Deleted} {
		company := id.Cuid()
		companies = append(companies, company)
		w.found(company)
		for _, lease := range []int64{0, early, late} {
			for _, due := range []int64{0, early, late} {
				e := w.endpoint(company, "http://127.0.0.1:1/")
				_, err := w.db.Exec(t.Context(), `UPDATE webhook_endpoint SET state = $3, failures = $4 WHERE company_id = $1 AND id = $2`, company, e.ID, string(state), due%7)
				must(t, err)
				_, err = w.db.Exec(t.Context(), `UPDATE webhook_lane SET lease_until = $3, due_at = $4 WHERE company_id = $1 AND endpoint_id = $2`, company, e.ID, lease, due)
				must(t, err)
			}
		}
	}
	companies = append(companies, id.Cuid()) // it has no endpoint
	sorted := func(w *world) []queue {
		list, err := w.idleQueues(t.Context(), companies, now)
		must(t, err)
		slices.SortFunc(list, func(a, b queue) int { return strings.Compare(a.key(), b.key()) })
		return list
	}
	got, want := sorted(routed), sorted(w)
	if len(want) == 0 || !slices.Equal(got, want) {
		t.Errorf("%d queues:\n%+v\nwant %d:\n%+v", len(got), got, len(want), want)
	}
}
