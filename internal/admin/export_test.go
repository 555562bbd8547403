package admin

import "github.com/kobo-waas/kobo/internal/contract"

// Document returns the contract in the form that callers see.
func Document() []byte { return public }

// CanBeProposed reports whether an operation can be an act of a proposal.
func CanBeProposed(route string, op *contract.Operation) bool { return canBeProposed(route, op) }

// Operations returns the operations of the contract by "METHOD /path", with their roles.
func Operations() (map[string]*contract.Operation, error) {
	c, err := readContract()
	if err != nil {
		return nil, err
	}
	return c.Operations, nil
}
