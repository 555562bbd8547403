package console

import (
	"encoding/csv"
	"net/url"
	"strconv"

	spreadsheet "github.com/kobo-waas/kobo/internal/text"
)

// downloadBadLines sends the bad lines of a bulk payout as a CSV file, each with the reason. The first five columns are
// those of a new bulk payout.
func downloadBadLines(v *visit) error {
	id := url.PathEscape(v.PathValue("id"))
	rows := [][]string{{"Bank code", "Account number", "Amount", "Narration", "Own reference", "Line", "Why it is bad"}}
	for after := 0; ; {
		var b one[bulk]
		if _, err := v.ask("GET", "/api/v1/settlement/bulk-payout/"+id+"?limit=100&after="+strconv.Itoa(after), nil, &b); err != nil {
			return err
		}
		for _, l := range b.Data.Rows {
			if l.Verdict == "BAD" {
				rows = append(rows, []string{
					spreadsheet.Cell(l.BankCode), spreadsheet.Cell(l.AccountNumber), l.Amount.Decimal(), spreadsheet.Cell(optional(l.Narration)),
					spreadsheet.Cell(optional(l.OwnReference)), strconv.Itoa(l.number()), spreadsheet.Cell(optional(l.Reason)),
				})
			}
		}
		if b.Data.NextAfter == nil {
			break
		}
		after = *b.Data.NextAfter
	}
	if err := v.noteExport("bad-lines.csv", "bulk="+id); err != nil {
		return err
	}
	v.w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	v.w.Header().Set("Content-Disposition", `attachment; filename="bad-lines.csv"`)
	return csv.NewWriter(v.w).WriteAll(rows)
}
