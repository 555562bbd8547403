package sandbox

import (
	_ "embed" // the banks
	"encoding/csv"
	"net/http"
	"strconv"
	"strings"
)

// banksCSV is a start set of Nigerian banks and other institutions that can be
// paid, with their codes in the interbank system (NIP), and the pretend bank.
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

func knownBank(code string) bool {
	for _, b := range bankList {
		if b.code == code {
			return true
		}
	}
	return false
}

// banks is GET /transfers/banks.
func (s *Sandbox) banks(w http.ResponseWriter, _ *http.Request) {
	rows := make([]any, 0, len(bankList))
	for _, b := range bankList {
		rows = append(rows, map[string]any{"name": b.name, "routingKey": b.code, "bankCode": b.code, "alias": []string{}, "logoImage": nil})
	}
	answer(w, "Banks fetched successfully.", rows)
}

var (
	firstNames = strings.Fields(`ADA BOLA CHIDI DAMILOLA EMEKA FATIMA GRACE HALIMA IFEANYI JUMOKE KELECHI LARABA MUSA NGOZI OBINNA
		PATIENCE RASHEED SADE TUNDE UCHE VICTOR WALE YAKUBU ZAINAB`)
	lastNames = strings.Fields(`ABUBAKAR ADEYEMI BALOGUN CHUKWU DANJUMA EZE FASHOLA GARBA HASSAN IBRAHIM JOHNSON KALU LAWAL MOHAMMED
		NWOSU OKAFOR OLADIPO PETERS SANUSI TAIWO UMAR WILLIAMS YUSUF`)
)

// personName is a name made from a digest, the same each time.
func personName(digest string) (first, last string) {
	n, err := strconv.ParseUint(digest[:8], 16, 64)
	if err != nil {
		return firstNames[0], lastNames[0]
	}
	return firstNames[n%uint64(len(firstNames))], lastNames[n/uint64(len(firstNames))%uint64(len(lastNames))]
}

// beneficiary is the name on an account of another bank.
func beneficiary(bank, number string) string {
	first, last := personName(digest("beneficiary", bank+number))
	return last + " " + first
}
