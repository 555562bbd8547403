package apptest_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
)

// hearer is a company's webhook endpoint, and the test server that receives its messages.
type hearer struct {
	*hookServer
	company *apptest.Client
	id      string
	before  int64 // the number of events before the endpoint existed
}

// at switches the hearer's company to a different program.
func (h *hearer) at(program *apptest.Client) {
	h.company = program.As(h.company.Reference, h.company.APIKey, h.company.SettlementID)
}

// Two companies have three webhook endpoints. One endpoint goes down, and its secret is rotated
// meanwhile. The program is killed twice, while some deliveries are being sent and others wait. At
// last the endpoint works again. Then every endpoint has received exactly the events of its
// company, in the promised order. Each message was signed with a secret that was valid when it was
// sent.
func TestTheDrill(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		home := apptest.NewHome(t, dialect)
		founder := home.Start(t)
		other := founder.Company(100_000 * money.Naira)
		founder.Stop()

		first := home.Spawn(t, apptest.Never, 4*time.Second)
		troubled, steady := hearerOf(t, first.Client, first.Client), hearerOf(t, first.Client, first.Client)
		stranger := hearerOf(t, first.Client, other)
		all := []*hearer{troubled, steady, stranger}
		busy(t, first.Client, all, "calm")
		arrived(t, all...)

		troubled.die()
		busy(t, first.Client, all, "alone")
		arrived(t, steady, stranger)
		waits(t, troubled)
		old, fresh := troubled.secrets[0], troubled.rotate(t)
		troubled.trust(old, fresh)
		busy(t, first.Client, all, "rotated")
		inTheMiddle(t, first, steady, stranger)

		second := home.Spawn(t, apptest.Never, 4*time.Second)
		move(all, second.Client)
		busy(t, second.Client, all, "again")
		second.Advance(3 * time.Minute) // the leases of the killed program have expired; the endpoint is still down
		arrived(t, steady, stranger)
		waits(t, troubled)
		troubled.rise()
		on := troubled.silence()
		second.Advance(time.Hour) // the deliveries are retried, and the program is killed during one of them
		await(t, on)
		second.Kill()

		third := home.Spawn(t, apptest.Never, 4*time.Second)
		move(all, third.Client)
		busy(t, third.Client, all, "back")
		third.Advance(time.Minute)
		third.Advance(time.Hour)
		arrived(t, all...)
		third.Advance(25 * time.Hour)
		arrived(t, all...)
		troubled.trust(fresh)
		busy(t, third.Client, all, "fresh")
		third.Advance(time.Hour) // no further message is sent
		for _, h := range all {
			resolved(t, h.company)
			arrived(t, h)
			h.holds(t)
		}
		if _, double := troubled.counts(); double == 0 {
			t.Error("nothing came with both signatures")
		}
		for i, h := range all {
			if again, _ := h.counts(); again == 0 {
				t.Errorf("to the endpoint %d nothing came again: the program did not die in the middle", i)
			}
		}
	})
}

// hearerOf creates a webhook endpoint of a company.
func hearerOf(t *testing.T, program, company *apptest.Client) *hearer {
	h := &hearer{hookServer: newHookServer(t), company: company}
	h.at(program)
	h.id, h.before = h.register(t, h.company)
	return h
}

func move(all []*hearer, program *apptest.Client) {
	for _, h := range all {
		h.at(program)
	}
}

// busy creates operations with different outcomes for the companies, through the API and the
// sandbox.
func busy(t *testing.T, program *apptest.Client, all []*hearer, name string) {
	t.Helper()
	for _, c := range []*apptest.Client{all[0].company, all[2].company} {
		bundle := c.Bundle()
		for _, ending := range []string{"10", "01", "10", "06"} {
			order := c.Order(bundle, fmt.Sprint(name, "-", len(c.Events(0))), ending)
			if a := c.Buy(order); a.Status != http.StatusOK && ending != "01" {
				t.Fatalf("%s: %s", name, a)
			}
		}
	}
	pay(t, program, program.SettlementAccountNumber, 100, nil)
	send(program, verify(t, program, "10"), 100).Want(t, http.StatusOK)
}

// feed returns the events that an endpoint should receive.
func (h *hearer) feed() []apptest.Event { return h.company.Events(h.before) }

// arrived waits until the endpoints have received all events so far, and Kobo shows these as
// delivered.
func arrived(t *testing.T, all ...*hearer) {
	t.Helper()
	for _, h := range all {
		apptest.Eventually(t, func() string {
			if lacks := h.lacks(h.feed()); lacks != "" {
				return lacks
			}
			if b := h.backlog(); b.Behind+b.Retrying+b.Failed > 0 {
				return fmt.Sprintf("%+v", b)
			}
			return ""
		})
	}
}

// waits blocks until the endpoint has deliveries that are being retried, and deliveries that wait
// behind those.
func waits(t *testing.T, h *hearer) {
	t.Helper()
	apptest.Eventually(t, func() string {
		if b := h.backlog(); b.Retrying == 0 || b.Behind == 0 {
			return fmt.Sprintf("nothing waits: %+v", b)
		}
		return ""
	})
}

// backlog is the number of undelivered events of an endpoint, as Kobo shows it.
type backlog struct{ Sequence, Behind, Retrying, Failed int64 }

func (h *hearer) backlog() backlog {
	var shown struct{ Backlog backlog }
	h.company.Data("/api/v1/webhooks/"+h.id, &shown)
	return shown.Backlog
}

// rotate replaces the endpoint's secret, and returns the new secret.
func (h *hearer) rotate(t *testing.T) (fresh string) {
	t.Helper()
	var rotated struct{ Data struct{ Secret string } }
	h.company.Do(http.MethodPost, "/api/v1/webhooks/"+h.id+"/rotate-secret", nil).Want(t, http.StatusOK).Into(t, &rotated)
	return rotated.Data.Secret
}

// inTheMiddle kills the program while each endpoint has received a message but has not responded
// yet.
func inTheMiddle(t *testing.T, c *apptest.Child, all ...*hearer) {
	t.Helper()
	for _, h := range all {
		on := h.silence()
		h.company.Bought(h.company.Buy(h.company.Order(h.company.Bundle(), fmt.Sprint("middle-", len(h.feed())), "10")))
		await(t, on)
	}
	c.Kill()
}

// holds compares the messages that the endpoint received with the event feed, and with the
// deliveries that the API shows.
func (h *hearer) holds(t *testing.T) {
	t.Helper()
	feed, tries := h.feed(), h.tries(t)
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.taken) != len(feed) {
		t.Errorf("%d messages were taken, of %d events", len(h.taken), len(feed))
	}
	again := map[int64]bool{}
	for i, e := range feed {
		if e.Sequence != h.before+int64(i)+1 || h.taken[e.ID] == "" || tries[e.ID] == 0 {
			t.Errorf("event %d is %d, taken %q after %d tries", h.before+int64(i)+1, e.Sequence, h.taken[e.ID], tries[e.ID])
		}
		again[e.Sequence] = tries[e.ID] != 1
	}
	// A delivery that failed at first arrives later. All other deliveries arrive in order.
	inOrder := slices.DeleteFunc(slices.Clone(h.order), func(n int64) bool { return again[n] })
	if !slices.IsSorted(inOrder) {
		t.Errorf("the order at the endpoint: %v; of those were tried again %v", h.order, again)
	}
	t.Logf("%d events, %d messages, %d of them with both signatures, %d at the first try", len(feed), h.times, h.double, len(inOrder))
}

// tries returns the number of delivery attempts for each event, as the API shows it.
func (h *hearer) tries(t *testing.T) map[string]int {
	t.Helper()
	out := map[string]int{}
	for page, more := 1, true; more; page++ {
		var list struct {
			Data []struct {
				EventID, Status string
				Attempts        int
			}
			Meta struct{ HasNextPage bool }
		}
		h.company.Data(fmt.Sprintf("/api/v1/webhooks/%s/deliveries?pageSize=100&page=%d", h.id, page), &list)
		for _, d := range list.Data {
			if d.Status != "DELIVERED" || out[d.EventID] != 0 {
				t.Errorf("the delivery of %s is %s after %d attempts, and there was one of %d", d.EventID, d.Status, d.Attempts, out[d.EventID])
			}
			out[d.EventID] = d.Attempts
		}
		more = list.Meta.HasNextPage
	}
	return out
}
