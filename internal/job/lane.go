package job

import (
	"maps"
	"slices"
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
type lane struct{ kind, provider string }

func (j Job) lane() lane { return lane{j.Kind, j.Provider} }

// room is how many more jobs may be taken up now.
type room struct {
	all, others int // others: of the kinds that are not reserved
	most        int // of one lane
	inHand      map[lane]int
}

// room is what the jobs in hand leave of the limits.
func (w *Worker) room() room {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := room{
		all: w.limits.Workers, others: w.limits.Workers - w.limits.Reserved,
		most: w.limits.PerProvider, inHand: maps.Clone(w.inHand),
	}
	for l, n := range r.inHand {
		r.all -= n
		if !w.reserved[l.kind] {
			r.others -= n
		}
	}
	r.others = min(r.all, r.others)
	return r
}

// takes are the kinds that may be taken up.
func (w *Worker) takes(r room) (kinds []string) {
	for kind := range w.kinds {
		if r.others > 0 || r.all > 0 && w.reserved[kind] {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// full are the lanes that have no room, as the list's reader names them.
func (r room) full() []string {
	names := []string{}
	for l, n := range r.inHand {
		if n >= r.most {
			names = append(names, l.kind+"/"+l.provider)
		}
	}
	slices.Sort(names)
	return names
}

// admit takes the room for a job, if there is any.
func (r *room) admit(j Job, reserved bool) bool {
	if r.all == 0 || r.inHand[j.lane()] >= r.most || !reserved && r.others == 0 {
		return false
	}
	r.inHand[j.lane()]++
	r.all--
	if !reserved {
		r.others--
	}
	r.others = min(r.others, r.all)
	return true
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
