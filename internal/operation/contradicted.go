package operation

// A provider can say the opposite of an outcome that is booked: that it carried out what has FAILED and was refunded, or that what
// succeeded came back. Such news moves no money. It opens a case, and until people know more the outcome is in doubt.

// Doubt says whether something contradicts the outcome of an operation.
type Doubt int

const (
	// Sure means that nothing contradicts the outcome, or that there is none yet.
	Sure Doubt = iota
	// InDoubt means that a case about it is open.
	InDoubt
	// WasInDoubt means that the operation FAILED, that the provider said later that it carried it out, and that operators have
	// decided about it. Their decision moves no money, so the payment may have been made nevertheless.
	WasInDoubt
)

// String returns the doubt as the API has it: "OPEN", "DECIDED", or "" for none.
func (d Doubt) String() string {
	switch d {
	case InDoubt:
		return "OPEN"
	case WasInDoubt:
		return "DECIDED"
	case Sure:
	}
	return ""
}
