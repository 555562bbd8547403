package books

import (
	"cmp"
	"encoding/csv"
	"strings"

	"github.com/kobo-waas/kobo/internal/money"
)

// ReadCSV returns the rows of a file that is part of the program, without its header.
func ReadCSV(text string) [][]string {
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		panic("sandbox: a built-in file cannot be read: " + err.Error())
	}
	return rows[1:]
}

// Price returns a price of such a file in naira, or 0 for an empty field.
func Price(naira string) money.Kobo {
	price, err := money.Parse(cmp.Or(naira, "0"))
	if err != nil {
		panic("sandbox: the price " + naira + " in a built-in file cannot be read: " + err.Error())
	}
	return price
}
