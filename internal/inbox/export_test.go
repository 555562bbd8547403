package inbox

// These constants bound a run of the credit poll.
const (
	Answer    = answer
	Limit     = limit
	ReadPhase = readPhase
	Patience  = patience
)
