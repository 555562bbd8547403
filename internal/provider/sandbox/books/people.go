package books

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/money"
)

// LeastVend is the smallest purchase for a simulated meter.
const LeastVend = 500 * money.Naira

// CustomerName is the name on every smartcard and meter.
const CustomerName = "ADA TESTER"

// Exists reports whether there is such a smartcard or meter.
func Exists(number string) bool {
	return len(number) >= 8 && IsDigits(number) && !strings.HasSuffix(number, NotFound)
}

// MeterKind returns PREPAID, or POSTPAID for a meter that begins with 9.
func MeterKind(number string) string {
	if strings.HasPrefix(number, "9") {
		return "POSTPAID"
	}
	return "PREPAID"
}

// MeterToken returns a token of twenty digits, always the same for a reference.
func MeterToken(reference string) string {
	n, err := strconv.ParseUint(Digest("token", reference)[:15], 16, 64)
	if err != nil {
		return ""
	}
	digits := strconv.FormatUint(n, 10)
	return ("00000000000000000000" + digits)[len(digits):]
}

// Digest returns the SHA-256 in hex of a text and its use.
func Digest(use, text string) string {
	sum := sha256.Sum256([]byte(use + "\x00" + text))
	return hex.EncodeToString(sum[:])
}

// NewID returns a random id of 24 hex digits.
func NewID() string { return Digest("id", id.New())[:24] }

// IsDigits reports whether a text has digits only.
func IsDigits(s string) bool {
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// masked shows the first four and the last two digits of a number. They reveal the story
// and not the person.
func masked(number string) string {
	if len(number) < 8 {
		return strings.Repeat("*", len(number))
	}
	return number[:4] + strings.Repeat("*", len(number)-6) + number[len(number)-2:]
}

var (
	firstNames = strings.Fields(`ADA BOLA CHIDI DAMILOLA EMEKA FATIMA GRACE HALIMA IFEANYI JUMOKE KELECHI LARABA MUSA NGOZI OBINNA
		PATIENCE RASHEED SADE TUNDE UCHE VICTOR WALE YAKUBU ZAINAB`)
	lastNames = strings.Fields(`ABUBAKAR ADEYEMI BALOGUN CHUKWU DANJUMA EZE FASHOLA GARBA HASSAN IBRAHIM JOHNSON KALU LAWAL MOHAMMED
		NWOSU OKAFOR OLADIPO PETERS SANUSI TAIWO UMAR WILLIAMS YUSUF`)
)

// PersonName returns a name made from a digest, always the same for it.
func PersonName(digest string) (first, last string) {
	n, err := strconv.ParseUint(digest[:8], 16, 64)
	if err != nil {
		return firstNames[0], lastNames[0]
	}
	return firstNames[n%uint64(len(firstNames))], lastNames[n/uint64(len(firstNames))%uint64(len(lastNames))]
}
