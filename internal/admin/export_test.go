package admin

// Document returns the contract as callers see it.
func Document() []byte { return public }
