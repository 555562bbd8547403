package event

import (
	"encoding/binary"
	"encoding/hex"
	"strings"
	"time"
)

// The data of an event about an operation is stored in a packed form, which takes a third of the place
// (decision 0036). Only the column differs: readers, MACs and hashes have the text itself.
//
// A packed text begins with the version of the form. Then come the ID of the operation, a quotation
// mark, and the name of the field of that ID. The rest is the text after the ID, in which control
// characters stand for longer parts. JSON contains no control characters. All other characters stand for
// themselves.
//
//	moment    the instant in the next 7 characters, in milliseconds
//	sameThen  the instant before, again
//	uuid      the UUID in the next 20 characters
//	subject   the ID of the operation, again
//	above     the phrase of the next character, which is '!' for phrases[len(near)]
//	others    a phrase
//
// A released form never changes. A new list of phrases is a new version.
const (
	packedForm = '1'

	moment   = 0x01
	sameThen = 0x02
	uuid     = 0x03
	subject  = 0x04
	above    = 0x05
	firstOne = 0x06 // the control character of phrases[0]
	near     = 0x1e - firstOne

	// These separate fields and rows when rows are read page by page, so no phrase has them: 0x1e, 0x1f.

	momentSize = 7
	uuidSize   = 20
)

// packedFields are the names of the field that comes first in the data and has the ID of the operation.
var packedFields = map[byte]string{'r': `{"reference":"`, 't': `{"transactionId":"`}

// phrases are the parts that events about operations share. The first ones take one character, and the
// others two.
var phrases = [...]string{
	// purchases
	`,"status":"SUCCESS","type":"`, `,"status":"PENDING","type":"`, `AIRTIME","amount":"`, `DATA","amount":"`,
	`","createdAt":"`, `","fee":"0.00","idempotencyKey":"`, `","settlementId":`, `,"serviceCategoryId":"`, `","productId":"`,
	`","productName":"`, `","phoneNumber":"`, `","cardNumber":null,"providerReference":"`, `","message":"`,
	`","cardNumber":null,"providerReference":null,"message":null,"refunded":false,"updatedAt":"`,
	`","refunded":false,"updatedAt":"`, `","meterNumber":null,"token":null`, `","productId":null,"productName":null,"phoneNumber":"`,
	// payouts
	`,"amount":`, `,"fee":`, `,"status":"`, `","account_name":"`, `","account_number":"`, `","bank_code":"`, `","narration":"`,
	// From here on, a phrase takes two characters.
	`","bank_name":"`, `","sessionId":"`, `","sessionId":null,"failureReason":null,"refunded":false,"settlementId":`,
	`","failureReason":null,"refunded":false,"settlementId":`, `,"completedAt":"`, `,"completedAt":null}`, `"PENDING`, `SUCCESS`, `PENDING`, `FAILED`, `REVERSED`,
	`","narration":null,"createdAt":"`, `","failureReason":"`, `","refunded":true,"settlementId":`,
	// purchases of other kinds, and funded cards
	`CABLE_TV","amount":"`, `UTILITY","amount":"`, `","type":"`, `","fee":"`, `","idempotencyKey":"`, `","cardNumber":"`, `,"cardNumber":"`, `"phoneNumber":null,"cardNumber":`,
	`"providerReference":null,"message":null`, `","providerReference":"`, `,"refunded":`, `"updatedAt":"`, `,"meterNumber":"`, `"meterNumber":"`, `,"token":"`, `"token":"`,
	`,"token":null`, `Purchased successfully.`, `","cardId":"`, `,"cardId":"`, `,"settlementId":`, `,"createdAt":"`, `"externalReference":"`, `"metadata":{`,
	`false,"`, `true,"`, `null,"`, `":null`, `":"`, `","`, `"}`,
}

// byFirst has the places of the phrases that begin with a character, the longest first.
var byFirst = func() (out [256][]int) {
	for i, p := range phrases {
		list := &out[p[0]]
		at := 0
		for at < len(*list) && len(phrases[(*list)[at]]) >= len(p) {
			at++
		}
		*list = append((*list)[:at], append([]int{i}, (*list)[at:]...)...)
	}
	return out
}()

// about reports whether events of a kind are about operations.
func about(kind string) bool {
	return strings.HasPrefix(kind, "vtu.") || strings.HasPrefix(kind, "payout.") || strings.HasPrefix(kind, "card.fund")
}

// Pack returns the packed form of the data of an event, or the data itself if it has no shorter form.
func Pack(kind, data string) string {
	if !about(kind) {
		return data
	}
	var out []byte
	for code, begins := range packedFields {
		if rest, ok := strings.CutPrefix(data, begins); ok {
			id, rest, ok := strings.Cut(rest, `"`)
			if !ok || strings.ContainsAny(id, "\\\x1e\x1f") {
				return data
			}
			out = append(make([]byte, 0, 256), packedForm)
			out = append(append(append(out, id...), '"'), code)
			out = packRest(out, rest, id)
		}
	}
	if len(out) == 0 || len(out) >= len(data) || Unpack(string(out)) != data {
		return data
	}
	return string(out)
}

// packRest appends the packed form of the text after the operation's ID.
func packRest(out []byte, text, id string) []byte {
	then := ""
	for len(text) > 0 {
		if i := phraseOf(text); i >= 0 {
			if i >= near {
				out = append(out, above, byte('!'+i-near))
			} else {
				out = append(out, byte(firstOne+i))
			}
			text = text[len(phrases[i]):]
			continue
		}
		switch {
		case id != "" && strings.HasPrefix(text, id):
			out, text = append(out, subject), text[len(id):]
		case then != "" && strings.HasPrefix(text, then):
			out, text = append(out, sameThen), text[len(then):]
		case isMoment(text):
			then = text[:len(momentLayout)]
			at, _ := time.Parse(momentLayout, then) // Pack compares the unpacked text with its own
			out, text = putDigits(append(out, moment), uint64(at.UnixMilli()), momentSize), text[len(momentLayout):]
		case isUUID(text):
			var raw [16]byte
			_, _ = hex.Decode(raw[:], []byte(strings.ReplaceAll(text[:36], "-", "")))
			out = append(out, uuid)
			out = putDigits(out, binary.BigEndian.Uint64(raw[:8]), uuidSize/2)
			out, text = putDigits(out, binary.BigEndian.Uint64(raw[8:]), uuidSize/2), text[36:]
		default:
			out, text = append(out, text[0]), text[1:]
		}
	}
	return out
}

func phraseOf(text string) int {
	for _, i := range byFirst[text[0]] {
		if strings.HasPrefix(text, phrases[i]) {
			return i
		}
	}
	return -1
}

// momentLayout is the form of all instants in events (clock.Text).
const momentLayout = "2006-01-02T15:04:05.000Z"

func isMoment(text string) bool {
	return len(text) >= len(momentLayout) && text[4] == '-' && text[10] == 'T' && text[13] == ':' && text[19] == '.' && text[23] == 'Z'
}

func isUUID(text string) bool {
	if len(text) < 36 || text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-' {
		return false
	}
	return !strings.ContainsFunc(strings.ReplaceAll(text[:36], "-", ""), func(c rune) bool {
		return (c < '0' || c > '9') && (c < 'a' || c > 'f')
	})
}

// Unpack returns the data of an event from the column that stores it. A text that is not packed, or not
// packed in a form that this program knows, is returned as it is.
func Unpack(stored string) string {
	if stored == "" || stored[0] != packedForm {
		return stored
	}
	id, rest, ok := strings.Cut(stored[1:], `"`)
	if !ok || rest == "" || packedFields[rest[0]] == "" {
		return stored
	}
	out := append(make([]byte, 0, 3*len(stored)+256), packedFields[rest[0]]...)
	out = append(append(out, id...), '"')
	var then string
	for rest = rest[1:]; rest != ""; {
		c := rest[0]
		if c >= ' ' {
			out, rest = append(out, c), rest[1:]
			continue
		}
		part, size := unpackPart(rest, id, then)
		if size == 0 {
			return stored
		}
		if c == moment {
			then = part
		}
		out, rest = append(out, part...), rest[size:]
	}
	return string(out)
}

// unpackPart returns what the control character at the beginning of a packed text stands for, and how many
// characters it takes with what follows it. It returns 0 for a text that Pack does not make.
func unpackPart(text, id, then string) (part string, size int) {
	switch c := text[0]; {
	case c == moment && len(text) > momentSize:
		n, ok := digits(text[1 : 1+momentSize])
		if !ok {
			return "", 0
		}
		return time.UnixMilli(int64(n)).UTC().Format(momentLayout), 1 + momentSize
	case c == sameThen:
		return then, 1
	case c == uuid && len(text) > uuidSize:
		high, ok := digits(text[1 : 1+uuidSize/2])
		low, also := digits(text[1+uuidSize/2 : 1+uuidSize])
		if !ok || !also {
			return "", 0
		}
		raw := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, high), low)
		s := hex.EncodeToString(raw)
		return s[:8] + "-" + s[8:12] + "-" + s[12:16] + "-" + s[16:20] + "-" + s[20:], 1 + uuidSize
	case c == subject:
		return id, 1
	case c == above && len(text) > 1:
		if i := int(text[1]) - '!' + near; i >= near && i < len(phrases) {
			return phrases[i], 2
		}
	case c >= firstOne && c < firstOne+near:
		return phrases[c-firstOne], 1
	}
	return "", 0
}

// base is how many characters write the digits of a number: those from the space to the tilde.
const base = '~' - ' ' + 1

// putDigits appends a number in a fixed number of characters. A number that is too large loses its upper
// digits, which Pack notices.
func putDigits(out []byte, n uint64, size int) []byte {
	at := len(out)
	for range size {
		out = append(out, ' ')
	}
	for i := at + size - 1; i >= at; i-- {
		out[i] = byte(' ' + n%base)
		n /= base
	}
	return out
}

func digits(text string) (n uint64, ok bool) {
	for _, c := range []byte(text) {
		if c < ' ' || c > '~' {
			return 0, false
		}
		n = n*base + uint64(c-' ')
	}
	return n, true
}
