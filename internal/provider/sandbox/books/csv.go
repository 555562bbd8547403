package books

import (
	"cmp"
	"encoding/csv"
	"strings"

	"github.com/kobo-waas/kobo/internal/money"
)

// ReadCSV returns the rows of a CSV file that is embedded in the program, without the header row.
func ReadCSV(text string) [][]string {
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		panic("sandbox: a built-in file cannot be read: " + err.Error())
	}
	return rows[1:]
}

// Price converts a price in naira from an embedded CSV file. It returns 0 for an empty field.
func Price(naira string) money.Kobo {
	price, err := money.Parse(cmp.Or(naira, "0"))
	if err != nil {
		panic("sandbox: the price " + naira + " in a built-in file cannot be read: " + err.Error())
	}
	return price
}
