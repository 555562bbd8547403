package console

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// bankBook finds the banks that people write by name or by code.
type bankBook struct {
	banks  []bank
	codes  map[string]bank
	named  map[string][]bank // by bareName
	padded map[string][]bank // by the code without the zeros at its beginning
}

func bookOf(banks []bank) bankBook {
	b := bankBook{banks, map[string]bank{}, map[string][]bank{}, map[string][]bank{}}
	for _, one := range banks {
		b.codes[one.Code] = one
		name, code := bareName(one.Name), strings.TrimLeft(one.Code, "0")
		b.named[name] = append(b.named[name], one)
		b.padded[code] = append(b.padded[code], one)
	}
	return b
}

// bankBook asks for the banks of the companies' API.
func (v *visit) bankBook() (bankBook, error) {
	var banks one[[]bank]
	_, err := v.ask("GET", "/api/v1/settlement/banks", nil, &banks)
	return bookOf(banks.Data), err
}

// word returns the name of the bank with a code, or the code if the list has no such bank.
func (b bankBook) word(code string) string { return cmp.Or(b.codes[code].Name, code) }

// wordWithCode returns the name of the bank with its code, or the code if the list has no such bank.
func (b bankBook) wordWithCode(code string) string {
	if one, known := b.codes[code]; known {
		return withCode(one)
	}
	return code
}

// filler are the words that people write and leave out within the name of the same bank.
var filler = []string{"plc", "limited", "ltd", "nigeria"}

// bareName returns the name of a bank without what people write in different ways: case, spaces, signs, Bank, Plc, Limited and of
// Nigeria. A microfinance bank keeps a mark of it: it may be another bank than one without.
func bareName(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	whole := strings.Join(words, "")
	words = slices.DeleteFunc(words, func(w string) bool { return slices.Contains(filler, w) })
	if last := len(words) - 1; last > 0 && words[last] == "of" {
		words = words[:last]
	}
	short := strings.NewReplacer("microfinancebank", "mfb", "microfinance", "mfb", "mfbank", "mfb", "paymentservicebank", "psb", "bank", "", "plc", "")
	return cmp.Or(short.Replace(strings.Join(words, "")), whole)
}

// shortNames are names that people use for banks, with the name that lists have. Both are without what bareName and usualName
// leave out.
var shortNames = map[string]string{
	"uba": "unitedforafrica", "gt": "guarantytrust", "gtb": "guarantytrust", "gtco": "guarantytrust", "guaranty": "guarantytrust", "guarantee": "guarantytrust",
	"guaranteetrust": "guarantytrust", "fcmb": "firstcitymonument", "fbn": "first", "ibtc": "stanbicibtc", "stanbic": "stanbicibtc", "skye": "polaris",
	"ubn": "union", "alat": "wema", "alatbywema": "wema", "titan": "titantrust",
	"opaydigitalservices": "opay", "paycom": "opay", "teamapt": "moniepoint",
	"v": "vfd", "onefinance": "carbon", "scb": "standardchartered", "stanchart": "standardchartered", "rmb": "randmerchant",
	"premium": "premiumtrust", "alt": "thealternative", "alternative": "thealternative", "mtnmomo": "momo",
}

// usualName returns the name by which people know a bank. Different banks may share it, so it only offers.
func usualName(name string) string {
	bare := bareName(name)
	usual := cmp.Or(strings.TrimSuffix(strings.TrimSuffix(bare, "mfb"), "psb"), bare)
	return cmp.Or(shortNames[usual], usual)
}

// code returns the code of the bank that somebody has written by its code or its name, or why there is no such bank. A
// code that is not on the list stays, and the bank decides: the list may be older than the code.
func (b bankBook) code(text string) (code, why string) {
	if text == "" {
		return "", "it is missing. Write the name or the code."
	}
	if _, known := b.codes[text]; known {
		return text, ""
	}
	if strings.Trim(text, "0123456789") == "" {
		switch found := b.padded[strings.TrimLeft(text, "0")]; {
		case len(found) == 1:
			return "", fmt.Sprintf("no bank has the code %q. A spreadsheet may have removed zeros: %s", text, withCode(found[0]))
		case len(text) < 4 || len(text) > 10:
			return "", fmt.Sprintf("%q is no code of a bank. A code has 4 to 10 digits.", text)
		}
		return text, ""
	}
	switch found := b.named[bareName(text)]; {
	case len(found) == 1:
		return found[0].Code, ""
	case len(found) > 1:
		return "", fmt.Sprintf("%q may be %s. Write the code.", text, orList(found))
	case len(b.banks) == 0:
		return "", fmt.Sprintf("%q cannot be looked up now, because the list of banks is empty. Write the code.", text)
	}
	return "", fmt.Sprintf("no bank has the name %q. The nearest: %s", text, orList(b.nearest(text, 3)))
}

// nearest returns the banks that people know by a name. If there are none, it returns those whose names are most like it.
func (b bankBook) nearest(text string, most int) []bank {
	const least = 3 // letters of a name that is looked for within another one
	usual := usualName(text)
	type near struct {
		bank
		away int
	}
	all, same := make([]near, len(b.banks)), []bank(nil)
	for i, one := range b.banks {
		name := usualName(one.Name)
		if name == usual {
			same = append(same, one)
		}
		all[i] = near{one, edits(usual, name)}
		if len(usual) >= least && strings.Contains(name, usual) || len(name) >= least && strings.Contains(usual, name) {
			all[i].away = 0
		}
	}
	if len(same) > 0 {
		return same[:min(most, len(same))]
	}
	slices.SortStableFunc(all, func(a, b near) int { return cmp.Compare(a.away, b.away) })
	out := make([]bank, 0, most)
	for _, one := range all[:min(most, len(all))] {
		out = append(out, one.bank)
	}
	return out
}

// edits returns how many letters somebody adds, removes or changes to make one text of the other.
func edits(a, b string) int {
	from, to := []rune(a), []rune(b)
	row := make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}
	for i := range from {
		before := row[0]
		row[0] = i + 1
		for j := range to {
			same := before
			if from[i] != to[j] {
				same++
			}
			before = row[j+1]
			row[j+1] = min(same, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(to)]
}

// withCode names a bank with its code.
func withCode(b bank) string { return b.Name + " (" + b.Code + ")" }

// orList names banks with their codes.
func orList(banks []bank) string {
	names := make([]string, len(banks))
	for i, b := range banks {
		names[i] = withCode(b)
	}
	if last := len(names) - 1; last > 0 {
		return strings.Join(names[:last], ", ") + " or " + names[last]
	}
	return strings.Join(names, "")
}
