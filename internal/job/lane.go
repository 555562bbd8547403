package job

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"
)

// Limits are how many jobs a worker does at once.
type Limits struct {
	Workers     int // of all kinds together
	Reserved    int // of these, kept free for the reserved kinds
	PerProvider int // of one kind that ask one provider
}

// Usual are the limits of a worker that is told nothing else.
var Usual = Limits{Workers: 16, Reserved: 4, PerProvider: 4}

// lane is what Limits.PerProvider is about: the jobs of one kind that ask one
// provider, or none.
func (j Job) lane() string { return j.Kind + "/" + j.Provider }

// kindOf is the kind of a lane's jobs.
func kindOf(lane string) string {
	kind, _, _ := strings.Cut(lane, "/")
	return kind
}

// room is how many more jobs may be taken up now.
type room struct {
	all, others int // others: of the kinds that are not reserved
	most        int // of one lane
	inHand      map[string]int
	reserved    map[string]bool
}

// room is what the jobs in hand leave of the limits.
func (w *Worker) room() room {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := room{
		all: w.limits.Workers, others: w.limits.Workers - w.limits.Reserved, most: w.limits.PerProvider,
		inHand: maps.Clone(w.inHand), reserved: w.reserved,
	}
	for lane, n := range r.inHand {
		r.all -= n
		if !r.reserved[kindOf(lane)] {
			r.others -= n
		}
	}
	return r
}

// left is how many more jobs of a lane may be taken up.
func (r room) left(lane string) int {
	n := min(r.all, r.most-r.inHand[lane])
	if !r.reserved[kindOf(lane)] {
		n = min(n, r.others)
	}
	return max(n, 0)
}

// admit takes the room for a job, if there is any.
func (r *room) admit(j Job) bool {
	if r.left(j.lane()) == 0 {
		return false
	}
	r.inHand[j.lane()]++
	r.all--
	if !r.reserved[j.Kind] {
		r.others--
	}
	return true
}

// next are the due jobs for which there is room, the most overdue first. Kinds that
// this program does not know are a newer program's work.
func (w *Worker) next(ctx context.Context, now time.Time) (list []Job, err error) {
	r := w.room()
	if r.all == 0 {
		return nil, nil
	}
	names, err := lanes(ctx, w.db, now)
	if err != nil {
		return nil, err
	}
	for _, lane := range names {
		n := r.left(lane)
		if w.kinds[kindOf(lane)] == nil || n == 0 {
			continue
		}
		some, err := due(ctx, w.db, lane, now, n)
		if err != nil {
			return nil, err
		}
		list = append(list, some...)
	}
	slices.SortStableFunc(list, func(a, b Job) int { return a.RunAt.Compare(b.RunAt) })
	return slices.DeleteFunc(list, func(j Job) bool { return !r.admit(j) }), nil
}

// begin counts jobs as in hand.
func (w *Worker) begin(jobs []Job) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, j := range jobs {
		w.inHand[j.lane()]++
	}
}

// end gives a job's room back, and has the worker look for what takes it.
func (w *Worker) end(j Job) {
	w.mu.Lock()
	if w.inHand[j.lane()]--; w.inHand[j.lane()] == 0 {
		delete(w.inHand, j.lane())
	}
	w.mu.Unlock()
	w.Wake()
}
