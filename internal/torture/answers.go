package torture

import "slices"

// subject is a payment as its sender knows it.
type subject struct{ company, key string }

// answers compares all answers about a key with each other and with the payment at the end. An answer from a time that a
// restore has lost may differ from the end, but the key has the same reference. Each order gets an answer in the end, unless a restore has
// lost it and the company has given it up.
func answers(h *History, r *Result) {
	byKey := map[subject]Payment{}
	byReference := map[string]Payment{}
	for _, b := range h.Facts.Companies {
		for _, p := range b.Payments {
			byReference[p.Reference] = p
			if p.Key == "" {
				continue
			}
			if _, twice := byKey[subject{b.Reference, p.Key}]; twice {
				r.wrong("there are two payments for the key %s", p.Key)
			}
			byKey[subject{b.Reference, p.Key}] = p
		}
	}
	for _, fault := range h.Facts.Faults {
		r.wrong("%s", fault)
	}
	named, said, heard := map[subject]string{}, map[subject]string{}, map[subject]bool{}
	for _, c := range h.Calls {
		if c.Kind != look { // a look answers no order
			heard[subject{c.Company, c.Key}] = heard[subject{c.Company, c.Key}] || c.State != unknown || h.mayBeLost(c)
		}
	}
	for _, c := range h.Calls {
		if !slices.Contains([]string{purchase, payout, funding, look}, c.Kind) {
			continue
		}
		key := subject{c.Company, c.Key}
		if c.Status != 0 {
			r.Compared++
		}
		if c.Kind != look && !heard[key] {
			r.wrong("the %s %s never got an answer, and last %d", c.Kind, c.Key, c.Status)
		}
		if c.State == unknown && c.Answer != "" {
			r.wrong("the %s %s was answered %d %s", c.Kind, c.Key, c.Status, c.Answer)
		}
		if c.Reference != "" {
			if was := named[key]; was != "" && was != c.Reference {
				r.wrong("the key %s was said to be %s and %s", c.Key, was, c.Reference)
			}
			named[key] = c.Reference
		}
		if (c.State == success || c.State == failed) && c.Kind != look && !h.mayBeLost(c) {
			if was := said[key]; was != "" && was != c.State {
				r.wrong("the %s %s was said to be %s and %s", c.Kind, c.Key, was, c.State)
			}
			said[key] = c.State
		}
		p, exists := byKey[key]
		if c.Reference != "" {
			p, exists = byReference[c.Reference]
		}
		if !h.mayBeLost(c) && !agree(c, p, exists) {
			r.wrong("the %s %s was said to be %s, and is %q at the end", c.Kind, c.Key, c.State, p.State)
		}
	}
}

// agree reports whether an answer may have been right before the end.
func agree(c Call, p Payment, exists bool) bool {
	switch c.State {
	case success:
		return exists && (p.State == success || p.State == reversed)
	case failed: // a payout that came back before its first answer is said to be refunded too
		return exists && (p.State == failed || p.Kind == payout && p.State == reversed)
	case reversed:
		return exists && p.State == reversed
	case pending:
		return exists
	case refused: // a refusal is the answer of its key for ever
		return !exists
	}
	return true // nobody was told anything, or nothing had happened yet
}
