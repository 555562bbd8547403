package admin

// Document is the contract as callers see it.
func Document() []byte { return public }
