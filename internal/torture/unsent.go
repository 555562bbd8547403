package torture

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"

	"github.com/kobo-waas/kobo/internal/provider"
)

// codeOff is the code with which the first biller refuses all sales.
const codeOff = "58"

// unsent returns the failed payments of which their provider has no request, and whose timeline says that Kobo could not send one: the program
// got no access token of the provider in time, or the first biller refused all sales and the purchase did not move. Then the refund is right at once.
func (w *world) unsent(ctx context.Context, f Facts) (list []string, err error) {
	h := &History{Run: w.history.Run, Calls: w.calls(), Breaks: w.breaks(), Facts: f}
	asked, orders := h.asked(), h.orders()
	for _, b := range f.Companies {
		for _, p := range b.Payments {
			if p.State != failed || h.mayFail(p, asked[p.Reference]) {
				continue
			}
			var timeline json.RawMessage
			if err := w.by.data(ctx, 0, http.MethodGet, "timeline/"+p.Reference, nil, &timeline); err != nil {
				return nil, err
			}
			unsent := bytes.Contains(timeline, []byte("("+provider.CodeNotSent+")"))
			off := bytes.Contains(timeline, []byte("("+codeOff+")")) && !bytes.Contains(timeline, []byte(furtherBank)) && h.refusedFirst(orders[p.Reference])
			if unsent || off {
				list = append(list, p.Reference)
			}
		}
	}
	return list, nil
}
