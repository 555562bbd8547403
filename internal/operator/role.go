package operator

import (
	"fmt"
	"slices"

	"github.com/kobo-waas/kobo/internal/fault"
)

// Role says what an operator may do. Each role may also do what the roles before it may do.
type Role string

// These are the roles, from the least to the most powerful.
const (
	Viewer  Role = "viewer"
	Support Role = "support"
	Finance Role = "finance"
	Admin   Role = "admin"
)

// Roles returns all roles, the least powerful first.
func Roles() []Role { return []Role{Viewer, Support, Finance, Admin} }

// Covers reports whether an operator with this role may do what needs the role least. An unknown
// role covers nothing, and nothing covers an unknown role.
func (r Role) Covers(least Role) bool {
	at := slices.Index(Roles(), least)
	return at >= 0 && slices.Index(Roles(), r) >= at
}

// May returns an error if the operator's role does not cover the role least.
func (o Operator) May(least Role) error {
	if o.Role.Covers(least) {
		return nil
	}
	return fault.Newf(fault.Forbidden, "This needs the role %s, and %s has the role %s", least, o.Name, o.Role)
}

// Check returns an error if there is no such role.
func (r Role) Check() error {
	if !r.Covers(Viewer) {
		return fault.New(fault.Invalid, `"role" must be one of `+fmt.Sprint(Roles()))
	}
	return nil
}
