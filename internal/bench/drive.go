package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// load returns a load of all the place's clients.
func (p *place) load(name string, m maker) (load, error) {
	l := load{target: p.target, name: name, clients: p.clients}
	for client := range p.clients {
		s, err := m(p, client)
		if err != nil {
			return l, err
		}
		l.steps = append(l.steps, s)
	}
	return l, nil
}

// usual measures a mix with one load.
func (o Options) usual(ctx context.Context, i *instance, p *place, m mix) ([]Result, error) {
	l, err := p.load(m.name, m.step)
	if err != nil {
		return nil, err
	}
	l.rate = o.Rate
	is, err := i.drive(ctx, o, l)
	if err != nil {
		return nil, err
	}
	out := is.result(l)
	out.Cost = is.cost(is.operations(l))
	if out.Operations == 0 {
		return nil, fmt.Errorf("no operation had the expected outcome: %w", is.first)
	}
	return []Result{out}, nil
}

// flood measures a polite company alone, and then while a different company floods the program.
func (o Options) flood(ctx context.Context, i *instance, p *place, m mix) ([]Result, error) {
	few, all := *p, *p
	few.companies, few.clients = p.companies[1:], polite
	all.companies = p.companies[:1]
	if m.fill {
		l, err := all.load(m.name+" fill", m.step)
		if err == nil {
			_, err = l.run(ctx, 0, o.Duration, o.Progress, func() error { return nil })
		}
		if err != nil {
			return nil, err
		}
	}
	calm, err := few.load(m.name+" alone", m.step)
	if err != nil {
		return nil, err
	}
	wild, err := all.load(m.name+" flooder", m.beside)
	if err != nil {
		return nil, err
	}
	alone, err := i.drive(ctx, o, calm)
	if err != nil {
		return nil, err
	}
	first := alone.result(calm)
	first.Cost = alone.cost(alone.operations(calm))
	var at counted
	var failed error
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		at, failed = wild.run(ctx, o.Warm, o.Duration, io.Discard, func() error { return nil })
	}()
	calm.name = m.name + " polite"
	beside, err := i.drive(ctx, o, calm)
	<-ended
	if err = errors.Join(err, failed); err != nil {
		return nil, err
	}
	// The cost of both loads together stands in the flooder's row.
	last := at.result(wild)
	last.Cost = beside.cost(beside.operations(calm) + at.operations(wild))
	return []Result{first, beside.result(calm), last}, nil
}

// driven is what a load did, and what the processes used for it.
type driven struct {
	counted
	used  []map[string]usage // at the window's begin, at its end, and perhaps after an idle time
	wrote []written
}

// drive runs a load, and reads what the processes use.
func (i *instance) drive(ctx context.Context, o Options, l load) (d driven, err error) {
	sample := func() error {
		u, w, err := i.measure(ctx)
		d.used, d.wrote = append(d.used, u), append(d.wrote, w)
		return err
	}
	if d.counted, err = l.run(ctx, o.Warm, o.Duration, o.Progress, sample); err != nil || o.Idle == 0 {
		return d, err
	}
	fmt.Fprintf(o.Progress, "\r%-12s idle for %s %30s", l.name, o.Idle, "")
	before, _, err := i.measure(ctx) // the last operations have ended only now
	if err != nil {
		return d, err
	}
	timer := time.NewTimer(o.Idle)
	defer timer.Stop()
	if !wait(ctx, timer, time.Now().Add(o.Idle)) {
		return d, ctx.Err()
	}
	d.used = append(d.used, before)
	return d, sample()
}

// operations returns the number of operations that had the expected outcome.
func (d *counted) operations(l load) int64 { return (d.n - d.unbegun) * max(l.batch, 1) }

func (d *counted) result(l load) Result {
	n := d.operations(l)
	out := Result{
		Mix: l.name, Clients: l.clients, Rate: l.rate, Operations: n, Failed: d.failed, Unbegun: d.unbegun,
		PerSecond: n * 1000 / max(d.elapsed.Milliseconds(), 1), P50: d.at(500), P99: d.at(990), P999: d.at(999), Max: d.max,
	}
	if d.first != nil {
		out.FirstFailure = d.first.Error()
	}
	return out
}

// cost divides what was used by a number of operations.
func (d driven) cost(n int64) Cost {
	per := func(sum int64) int64 { return sum / max(n, 1) }
	before, after, wrote := d.used[0], d.used[1], d.wrote[1].less(d.wrote[0])
	out := Cost{
		CPU: map[string]int64{}, Memory: map[string]int64{}, Disk: per(after["kobo"].written - before["kobo"].written),
		Commits: per(wrote.Commits * 1000), Fsyncs: per(wrote.Fsyncs * 1000), WAL: per(wrote.WAL), Stored: per(wrote.Stored),
	}
	for _, f := range wrote.Files {
		g := Growth{Table: f.Table, Bytes: per(f.Bytes)}
		if f.Name != f.Table {
			g.Index = f.Name
		}
		if g.Bytes != 0 {
			out.Tables = append(out.Tables, g)
		}
	}
	for name, u := range after {
		out.CPU[name], out.Memory[name] = per(u.cpu-before[name].cpu), u.memory
	}
	if len(d.used) == 4 {
		for name, u := range d.used[3] {
			out.Deferred += (u.cpu - d.used[2][name].cpu) / max(d.all, 1)
		}
	}
	return out
}
