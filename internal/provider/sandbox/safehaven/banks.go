package safehaven

import (
	_ "embed" // the banks
	"encoding/csv"
	"net/http"
	"slices"
	"strings"

	"github.com/kobo-waas/kobo/internal/provider/sandbox/books"
)

// banksCSV lists Nigerian banks and other institutions that can be paid, with
// their codes in the interbank system (NIP), and the simulated bank.
//
//go:embed banks.csv
var banksCSV string

type bank struct{ code, name string }

var bankList = readBanks()

func readBanks() (list []bank) {
	rows, err := csv.NewReader(strings.NewReader(banksCSV)).ReadAll()
	if err != nil {
		panic("sandbox: banks.csv cannot be read: " + err.Error())
	}
	for _, r := range rows[1:] {
		list = append(list, bank{r[0], r[1]})
	}
	return list
}

func isKnownBank(code string) bool {
	return slices.ContainsFunc(bankList, func(b bank) bool { return b.code == code })
}

// listBanks is GET /transfers/banks.
func (b *Bank) listBanks(w http.ResponseWriter, _ *http.Request) {
	rows := make([]any, 0, len(bankList))
	for _, v := range bankList {
		rows = append(rows, map[string]any{"name": v.name, "routingKey": v.code, "bankCode": v.code, "alias": []string{}, "logoImage": nil})
	}
	books.Answer(w, "Banks fetched successfully.", rows)
}

// nameOf is a made-up name, the same each time for a text.
func nameOf(use, text string) string {
	first, last := books.PersonName(books.Digest(use, text))
	return last + " " + first
}
