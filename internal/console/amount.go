package console

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/money"
)

// separated matches a number with commas or spaces between its thousands. Any other comma may be a decimal one.
var separated = regexp.MustCompile(`^[0-9]{1,3}((,[0-9]{3})+|( [0-9]{3})+)(\.[0-9]+)?$`)

// plain returns a number that somebody has typed, such as 18,250.50, without the signs between its thousands. It keeps
// any other comma, so that the readers of numbers refuse the text.
func plain(text string) string {
	text = strings.TrimSpace(text)
	if separated.MatchString(text) {
		text = strings.NewReplacer(",", "", " ", "").Replace(text)
	}
	return text
}

// plainAmount is plain for an amount, which may begin with ₦.
func plainAmount(text string) string {
	return plain(strings.TrimPrefix(strings.TrimSpace(text), "₦"))
}

// number returns an amount that somebody has typed, such as ₦18,250.50, as the companies' API reads it.
func number(text string) (json.Number, error) {
	plain := plainAmount(text)
	if plain == "" || strings.Trim(plain, "0123456789.") != "" || strings.Count(plain, ".") > 1 || strings.HasPrefix(plain, ".") || strings.HasSuffix(plain, ".") {
		return "", fault.Newf(fault.Invalid, "%q is not an amount in naira", text)
	}
	if whole := strings.TrimLeft(plain, "0"); whole == "" || whole[0] == '.' {
		plain = "0" + whole
	} else {
		plain = whole
	}
	return json.Number(plain), nil
}

// payable is number for an amount that can be paid. It refuses what the API would refuse about every such amount.
func payable(text string) (json.Number, error) {
	n, err := number(text)
	if err != nil {
		return "", err
	}
	k, err := money.Asked(n.String())
	switch {
	case err != nil:
		return "", fault.Newf(fault.Invalid, "The amount %s", err).Because(err)
	case k == 0:
		return "", fault.New(fault.Invalid, "The amount must be more than ₦0.00")
	}
	return n, nil
}

// nairaOf reads an amount that an operator has typed. Nothing is 0.
func nairaOf(text, label string) (money.Kobo, error) {
	if text = plainAmount(text); text == "" {
		return 0, nil
	}
	k, err := money.Parse(text)
	if err != nil {
		return 0, fault.Newf(fault.Invalid, "%s must be an amount in naira, such as 18,250.50.", label).Because(err)
	}
	return k, nil
}

// countOf reads a whole number that an operator has typed, such as 1,000. Nothing is 0.
func countOf(text, label string) (int64, error) {
	if text = plain(text); text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, fault.Newf(fault.Invalid, "%s must be a whole number, such as 1,000.", label)
	}
	return n, nil
}
