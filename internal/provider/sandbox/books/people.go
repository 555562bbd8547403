package books

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/money"
)

// LeastVend is the lowest amount of a purchase for a simulated meter.
const LeastVend = 500 * money.Naira

// CustomerName is the name on every smartcard and meter.
const CustomerName = "ADA TESTER"

// Exists reports whether a smartcard or meter with this number exists.
func Exists(number string) bool {
	return len(number) >= 8 && IsDigits(number) && !strings.HasSuffix(number, NotFound)
}

// MeterKind returns POSTPAID for a meter number that begins with 9, and PREPAID for any other.
func MeterKind(number string) string {
	if strings.HasPrefix(number, "9") {
		return "POSTPAID"
	}
	return "PREPAID"
}

// MeterToken returns a token of twenty digits. The same reference always gives the same token.
func MeterToken(reference string) string {
	n, err := strconv.ParseUint(Digest("token", reference)[:15], 16, 64)
	if err != nil {
		return ""
	}
	digits := strconv.FormatUint(n, 10)
	return ("00000000000000000000" + digits)[len(digits):]
}

// Digest returns the SHA-256 of a text, in hex. The use is hashed together with the text, so that
// the same text gives a different digest for each use.
func Digest(use, text string) string {
	sum := sha256.Sum256([]byte(use + "\x00" + text))
	return hex.EncodeToString(sum[:])
}

// NewID returns a random id of 24 hex digits.
func NewID() string { return Digest("id", id.New())[:24] }

// IsDigits reports whether a text contains only digits.
func IsDigits(s string) bool {
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// masked hides a number except its first four and last two digits. The last two digits show which
// story was chosen, but do not identify the person.
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

// PersonName returns a name derived from a digest. The same digest always gives the same name.
func PersonName(digest string) (first, last string) {
	n, err := strconv.ParseUint(digest[:8], 16, 64)
	if err != nil {
		return firstNames[0], lastNames[0]
	}
	return firstNames[n%uint64(len(firstNames))], lastNames[n/uint64(len(firstNames))%uint64(len(lastNames))]
}
