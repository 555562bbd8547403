package admin

// Document returns the contract in the form that callers see.
func Document() []byte { return public }
