package sandbox

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/kobo-waas/kobo/internal/money"
)

// What a pretend meter may be given at once.
const (
	leastVend = 500 * money.Naira
	mostVend  = 500_000 * money.Naira
)

const customerName = "ADA TESTER"

// unknownEntity is the ending of a smartcard or a meter that does not exist, as
// it is of a bank account.
const unknownEntity = "99"

// exists tells whether there is such a smartcard or meter.
func exists(number string) bool {
	return len(number) >= 8 && digits(number) && !strings.HasSuffix(number, unknownEntity)
}

// meterKind makes a meter that begins with 9 a postpaid one.
func meterKind(number string) string {
	if strings.HasPrefix(number, "9") {
		return "POSTPAID"
	}
	return "PREPAID"
}

// verify is POST /vas/verify: whose a smartcard or a meter is.
func (s *Sandbox) verify(w http.ResponseWriter, r *http.Request) {
	var req struct {
		ServiceCategoryID string `json:"serviceCategoryId"`
		EntityNumber      string `json:"entityNumber"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, requestLimit)).Decode(&req); err != nil {
		s.decline(w, http.StatusBadRequest, "The request body cannot be read")
		return
	}
	c, known := categoryByID[req.ServiceCategoryID]
	switch {
	case !known || c.service.path != "cable-tv" && c.service.path != "utility":
		s.decline(w, http.StatusBadRequest, "serviceCategoryId is not a category with smartcards or meters")
	case !exists(req.EntityNumber):
		s.decline(w, http.StatusBadRequest, "There is no such smartcard or meter")
	case c.service.path == "cable-tv":
		write(w, http.StatusOK, map[string]any{
			"statusCode": http.StatusOK, "message": "Cable TV number verified successfully.",
			"sessionId": digest("verify", req.EntityNumber)[:24], "data": map[string]any{"name": customerName},
		})
	default:
		answer(w, "Meter number verified successfully.", map[string]any{
			"discoCode": c.identifier, "vendType": meterKind(req.EntityNumber), "meterNo": req.EntityNumber,
			"minVendAmount": leastVend, "maxVendAmount": mostVend.Number(), "outstanding": 0, "debtRepayment": 0,
			"name": customerName, "address": "12 Marina, Lagos", "orderId": digest("verify", req.EntityNumber)[:24],
		})
	}
}
