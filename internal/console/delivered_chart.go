package console

import (
	"strconv"
	"time"

	"github.com/kobo-waas/kobo/internal/admin"
	"github.com/kobo-waas/kobo/internal/report"
)

// deliveredHour is the number of the attempts of an hour, by the classes of deliveredHeads.
type deliveredHour struct {
	at time.Time
	n  [5]int64
}

// deliveredHeads are the names of the classes of answers.
var deliveredHeads = []string{"2xx", "3xx", "4xx", "5xx", "No answer"}

// delivered are the attempts of the last 24 hours to deliver to one webhook, the oldest hour first.
type delivered struct {
	hours []deliveredHour
	p95   time.Duration // 0 if nothing was answered
}

// deliveredTo reads the attempts of a webhook of the visitor's company.
func (v *visit) deliveredTo(endpointID string) (delivered, error) {
	said, err := v.Reports.DeliveredBy(v.Context(), v.who.Company, endpointID)
	return deliveredOf(said), err
}

func deliveredOf(said report.Delivered) delivered {
	out := delivered{p95: said.P95}
	for _, h := range said.Hours {
		out.hours = append(out.hours, deliveredHour{h.At, h.Attempts})
	}
	return out
}

// deliveredAt returns the attempts of a webhook as operators read them.
func deliveredAt(w admin.CompanyWebhook) delivered {
	var out delivered
	if w.P95Ms != nil {
		out.p95 = time.Duration(*w.P95Ms) * time.Millisecond
	}
	for _, h := range w.Hours {
		out.hours = append(out.hours, deliveredHour{instant(h.Hour), [5]int64{h.Accepted, h.Redirected, h.Refused, h.Failed, h.Unanswered}})
	}
	return out
}

// sums returns the number of all attempts, and of those that were not accepted.
func (d delivered) sums() (all, bad int64) {
	for _, h := range d.hours {
		for class, n := range h.n {
			if all += n; class > 0 {
				bad += n
			}
		}
	}
	return all, bad
}

// title states the numbers now.
func (d delivered) title() string {
	all, bad := d.sums()
	if all == 0 {
		return "Deliveries per hour: none in 24 hours"
	}
	return "Deliveries per hour: " + count(int(all), "attempt", "attempts") + " in 24 hours, " + thousands(itoa(bad)) + " without a 2xx answer"
}

// speed says how fast the answers came.
func (d delivered) speed() string {
	switch {
	case d.p95 == 0:
		return "Nothing was answered."
	case d.p95 < time.Second:
		return "95 of 100 answers came within " + itoa(d.p95.Milliseconds()) + " ms."
	}
	return "95 of 100 answers came within " + strconv.Itoa(int(d.p95/time.Second)) + " s."
}
