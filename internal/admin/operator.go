package admin

import (
	"context"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/operator"
)

func operatorOf(k operator.Key) Operator {
	return Operator{k.ID, k.Name, string(k.Role), k.State, clock.Text(k.CreatedAt), clock.Optional(k.ExpiresAt), clock.Optional(k.UsedAt)}
}

// listOperators shows the operators without their keys.
func (e *edge) listOperators(ctx context.Context, _ *request) (any, error) {
	keys, err := e.Operators.Keys(ctx)
	return rows(keys, operatorOf), err
}

// addOperator adds an operator whose key only this operator knows. The body has the digest of the
// key. If the response showed a key, one person could act as two operators.
func (e *edge) addOperator(ctx context.Context, r *request, body OperatorRequest) (any, error) {
	k, err := e.Operators.Add(ctx, r.by, body.Name, operator.Role(body.Role), body.KeyDigest)
	return operatorOf(k), err
}

func (e *edge) setOperatorRole(ctx context.Context, r *request, body RoleRequest) (any, error) {
	k, err := e.Operators.SetRole(ctx, r.by, r.PathValue("id"), operator.Role(body.Role))
	return operatorOf(k), err
}
