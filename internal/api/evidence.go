package api

import (
	"context"
	"encoding/base64"

	"github.com/kobo-waas/kobo/internal/evidence"
)

// ListCheckpoints shows the signed heads of the company's tree.
func (h *handlers) ListCheckpoints(ctx context.Context, r ListCheckpointsRequestObject) (ListCheckpointsResponseObject, error) {
	rows, meta, err := shaped(ctx, r.Params.Page, r.Params.PageSize, evidence.Checkpoint.Wire, func(offset, limit int) ([]evidence.Checkpoint, int, error) {
		return h.Evidence.Checkpoints(ctx, callOf(ctx).company, offset, limit)
	}, func(cursor string, limit int) ([]evidence.Checkpoint, error) {
		return h.Evidence.CheckpointsAfter(ctx, callOf(ctx).company, cursor, limit)
	})
	return ListCheckpoints200JSONResponse{Status: "success", Data: CheckpointPage{Data: rows, Meta: meta}}, err
}

// FindCheckpointKey shows the public keys of checkpoints.
func (h *handlers) FindCheckpointKey(ctx context.Context, _ FindCheckpointKeyRequestObject) (FindCheckpointKeyResponseObject, error) {
	keys, err := h.Evidence.VerifierKeys(ctx)
	if err != nil {
		return nil, err
	}
	public, err := evidence.PublicKey(keys[0])
	return FindCheckpointKey200JSONResponse{Status: "success", Data: CheckpointKey{
		Key: keys[0], PublicKey: base64.StdEncoding.EncodeToString(public), Earlier: keys[1:],
	}}, err
}

// ProveConsistency proves that a tree of the company continues an earlier one.
func (h *handlers) ProveConsistency(ctx context.Context, r ProveConsistencyRequestObject) (ProveConsistencyResponseObject, error) {
	var q query
	from, to := q.whole("from", r.Params.From), q.whole("to", r.Params.To)
	if err := q.fault(); err != nil {
		return nil, err
	}
	c, err := h.Evidence.Consistency(ctx, callOf(ctx).company, from, to)
	return ProveConsistency200JSONResponse{Status: "success", Data: ConsistencyProof{From: c.From.Wire(), To: c.To.Wire(), Proof: c.Proof}}, err
}

// FindReceipt shows the receipt of a transfer or an event.
func (h *handlers) FindReceipt(ctx context.Context, r FindReceiptRequestObject) (FindReceiptResponseObject, error) {
	receipt, err := h.Evidence.Receipt(ctx, callOf(ctx).company, r.Reference, r.Params.Step)
	return FindReceipt200JSONResponse{Status: "success", Data: receipt}, err
}
