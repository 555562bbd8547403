package operation

// The reasons of cases that come from holding a bank's statement against our
// books. The subject is the operation, or what the bank calls the line: a break
// that is found every day is one case.
const (
	// MissingCredit: money came in at the bank and is in no book.
	MissingCredit Reason = "MISSING_CREDIT"
	// UnknownDebit: money went out at the bank, and no operation asked for it.
	UnknownDebit Reason = "UNKNOWN_DEBIT"
	// DuplicateDebit: the bank took the money of one operation more than once.
	DuplicateDebit Reason = "DUPLICATE_DEBIT"
	// FailedReversal: money came back on one side only, ours or the bank's.
	FailedReversal Reason = "FAILED_REVERSAL"
	// AmountDiffers: both sides have it, and not the same amount.
	AmountDiffers Reason = "AMOUNT_DIFFERS"
	// NotOnStatement: our book has it, and the bank shows nothing.
	NotOnStatement Reason = "NOT_ON_STATEMENT"
	// UnbookedCharge: the bank charged us for its own services, and our book does
	// not have it. The subject is a bank's day, so that its lines are one case.
	UnbookedCharge Reason = "UNBOOKED_CHARGE"
)
