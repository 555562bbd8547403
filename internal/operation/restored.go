package operation

import "github.com/kobo-waas/kobo/internal/provider"

// holdsMoves reports whether a restore holds the moves of purchases.
func (s *Service) holdsMoves() bool { return s.Restored != nil && s.Restored() }

// believed returns the reply to a first call. In a restored database a refusal decides nothing: the provider
// may have carried out the same reference in the lost time, and refuse the repetition before it looks at the
// reference. The resolver then asks the provider about the reference. It does not ask about the id of the
// refusal, which is the repetition's. Parameter held says whether moves were held when the call began. Operators may have
// ended the hold since.
func (s *Service) believed(a provider.Answer, held bool) provider.Answer {
	if a.Outcome == provider.Rejected && !a.Reversed && (held || s.holdsMoves()) {
		a.Outcome, a.Unstarted, a.Reference = provider.Unknown, false, ""
	}
	return a
}

// MayRepeat reports whether an operation may repeat a request of the lost time of a restore, because it began before operators
// ended the hold of moves. The provider may then have carried it out long before the operation began.
func (s *Service) MayRepeat(o Operation) bool {
	return s.holdsMoves() || s.RestoredUntil != nil && o.CreatedAt.Before(s.RestoredUntil())
}
