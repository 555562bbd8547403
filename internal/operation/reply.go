package operation

import (
	"context"
	"time"

	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/provider"
)

// heardFirst writes the provider's reply to the first call.
func (s *Service) heardFirst(ctx context.Context, o Operation, answer provider.Answer, extra Extra) (Operation, error) {
	if answer.Outcome != provider.Unknown {
		return s.persist(ctx, true, func() (Operation, error) { return s.conclude(ctx, o, answer, extra) })
	}
	after, err := s.persist(ctx, isTelling(answer), func() (Operation, error) {
		return s.write(ctx, o, func(o Operation) (Operation, error) { return o.called(answer, s.clock.Now()), nil }, extra)
	})
	if err != nil || after.State != Pending {
		return after, err
	}
	if err = job.Reschedule(ctx, s.db, o.Company, ResolveJob, o.ID, after.NextAt); err == nil {
		err = s.differs(ctx, o, answer) // if it fails, the first requery opens the case
	}
	return after, err
}

// isTelling reports whether a reply without an outcome says what the provider's next reply may not say again: that it
// has the request, or may have it, or a code for the customer. Without this, the reply "no such reference" could refund the operation.
func isTelling(a provider.Answer) bool {
	return a.Reference != "" || a.Token != "" || a.Meter.Text() != "" || a.Code == provider.CodeDuplicate || a.Code == provider.CodeOther
}

// called returns the operation after a first call that has ended now without an outcome. If another reply was written
// during the call, the schedule goes on. The absences that were heard during the call do not count.
func (o Operation) called(a provider.Answer, now time.Time) Operation {
	after := o.answered(a, now)
	after.Missing, after.CalledUntil = 0, after.UpdatedAt
	after.NextAt = after.pollAt(after.Polls)
	return after
}

// persistence is how long persist retries to write a reply.
const persistence = 3 * time.Second

// persist writes a reply to a first call. If the reply must not be lost, persist tries again if the database
// connection breaks, because the provider's next reply may contain less information. Each attempt requires
// that the operation is still PENDING, so an outcome that an earlier attempt has committed stays.
func (s *Service) persist(ctx context.Context, must bool, write func() (Operation, error)) (Operation, error) {
	after, err := write()
	limit, cancel := context.WithTimeout(ctx, persistence)
	defer cancel()
	for pause := 50 * time.Millisecond; must && (fault.Is(err, fault.Unavailable) || fault.Is(err, fault.Unknown)); pause *= 2 {
		select {
		case <-limit.Done():
			return after, err
		case <-time.After(pause):
		}
		after, err = write()
	}
	return after, err
}

// reply returns a PENDING operation with a provider's reply written into it. It runs again on the operation as it
// stands, if another reply was written meanwhile.
type reply = func(o Operation) (Operation, error)

// conclude writes a definite outcome, and returns the operation.
func (s *Service) conclude(ctx context.Context, o Operation, a provider.Answer, extra Extra) (Operation, error) {
	return s.write(ctx, o, func(o Operation) (Operation, error) { return o.concluded(a, s.clock.Now()), nil }, extra)
}

// write replaces the PENDING row of operation o with what the reply makes of it. The same commit contains the
// effects of the new state. If another reply has changed what the provider told us since o was read, write reads the
// operation again. So no reply wipes out an id or a token that it did not hear.
func (s *Service) write(ctx context.Context, o Operation, heard reply, extra Extra) (Operation, error) {
	for {
		after, err := heard(o)
		if err != nil {
			return o, err
		}
		u, err := s.replyUnit(ctx, o, after, nil)
		if err != nil {
			return o, err
		}
		if extra != nil {
			extra(after, &u)
		}
		err = s.book.Commit(ctx, u)
		r := ledger.Refused(err)
		switch {
		case err == nil:
			after.Said = "" // the history has it
			return after, nil
		case r == nil || r.Reason != ledger.Moved:
			return o, err
		case r.Table != operations.Table && extra == nil:
			return o, err
		case r.Table != operations.Table:
			// A retry of the request has written the extra effects already. The outcome must still be
			// written.
			extra = nil
			continue
		}
		if now, err := s.Find(ctx, o.Company, o.ID); err == nil && now.State == Pending && now.Attempt == o.Attempt && !now.knowsAs(o) {
			now.Known = o.Known
			o = now
			continue
		}
		now, err := s.overtaken(ctx, o, after)
		if err == nil && extra != nil {
			err = s.belated(ctx, now, extra)
		}
		return now, err
	}
}

// knowsAs reports whether the provider has told us the same before two reads of an operation. These are the values
// that outcomeUnit compares for each reply.
func (o Operation) knowsAs(earlier Operation) bool {
	return o.ProviderReference == earlier.ProviderReference && o.Token == earlier.Token && o.Codes == earlier.Codes
}

// replyUnit returns the unit that writes a reply, with its row of the history. See outcomeUnit for asked.
func (s *Service) replyUnit(ctx context.Context, o, after Operation, asked *Operation) (ledger.Unit, error) {
	u, err := s.outcomeUnit(ctx, after, &o, asked)
	if err == nil && (after.State == Pending || o.Outcome != "") {
		u.Append(after.lastAnswer())
	}
	return u, err
}

// outcomeUnit returns the unit of step three. It has the operation's transition. For a final
// state it also has the transfers out of clearing and the effects of the kind, and removes the
// resolver's job. If read is set, the ledger refuses the unit if the provider's id, token or meter
// codes have changed since that read. If asked is set, the ledger refuses the unit if the provider
// has said something new since the operation was asked.
func (s *Service) outcomeUnit(ctx context.Context, after Operation, read, asked *Operation) (ledger.Unit, error) {
	u := ledger.For(after.Company)
	t := u.Transition(operations.Record(after), string(Pending)).Expect("attempt", after.Attempt)
	if read != nil {
		t.Expect("provider_reference", read.ProviderReference).Expect("token", read.Token).Expect("meter_codes", read.Codes)
	}
	if asked != nil {
		t.Expect("polls", asked.Polls).Expect("missing", asked.Missing)
	}
	if after.State == Pending {
		return u, nil
	}
	after.endAttempt(&u)
	if after.Known != nil {
		after.Known.Effects(after, &u)
	} else if err := s.kinds[after.Kind].Effects(ctx, after, &u); err != nil {
		return u, err
	}
	if !after.NextAt.IsZero() { // it FAILED because the provider has no record of it
		u.Append(job.Job{Kind: RecheckJob, Subject: after.ID, Provider: after.Provider, RunAt: after.NextAt}.For(u.Company))
	}
	u.Remove(job.Row(u.Company, ResolveJob, after.ID))
	u.Transfer(s.settle(after)...)
	after.Charge = max(after.Charge, 0) + after.cost() - after.Amount
	s.bookCharge(&u, after)
	return u, nil
}
