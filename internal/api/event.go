package api

import (
	"context"
	"time"

	"github.com/kobo-waas/kobo/internal/contract"
	"github.com/kobo-waas/kobo/internal/event"
)

// ListEvents returns events from the feed. With the parameter wait, it waits for a new event. A page of this program reads the feed
// from its end.
func (h *handlers) ListEvents(ctx context.Context, r ListEventsRequestObject) (ListEventsResponseObject, error) {
	var q query
	after := q.whole("after", r.Params.After)
	if err := q.fault(); err != nil {
		return nil, err
	}
	limit := contract.Clamp(r.Params.Limit, 100, 1000)
	if turn, has := turnOf(ctx); has {
		list, err := h.Events.Below(ctx, callOf(ctx).company, turn.After, limit+1)
		list = takeOf(turn, list, limit)
		return ListEvents200JSONResponse{Status: "success", Data: EventFeed{Data: append([]event.Event{}, list...), HasMore: turn.Next != ""}}, err
	}
	wait := time.Duration(contract.Clamp(r.Params.Wait, 0, 30)) * time.Second
	events, more, err := h.Events.Feed(ctx, callOf(ctx).company, after, limit, wait)
	return ListEvents200JSONResponse{Status: "success", Data: EventFeed{Data: append([]event.Event{}, events...), HasMore: more}}, err
}

// FindEvent shows one event.
func (h *handlers) FindEvent(ctx context.Context, r FindEventRequestObject) (FindEventResponseObject, error) {
	one, err := h.Events.Find(ctx, callOf(ctx).company, r.ID)
	return FindEvent200JSONResponse{Status: "success", Data: one}, err
}
