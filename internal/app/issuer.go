package app

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kobo-waas/kobo/internal/report"
)

// IssuerConfig is the letterhead of statements. An empty group gives statements no
// letterhead. A line has at most 80 characters.
type IssuerConfig struct {
	Name    string `koanf:"name"`    // Your name.
	Address string `koanf:"address"` // Your address, at most three lines.
	Support string `koanf:"support"` // One line: an e-mail address, a phone number or a web page.
	// PNG or JPEG file for PDFs: at most 512 KiB and 1000 pixels each way. The program
	// reads the file once, at start.
	Logo string `koanf:"logo"`
}

// These limits make the letterhead fit above the account statement.
const (
	longestIssuerLine = 80
	mostIssuerAddress = 3
)

// letterhead checks the settings and returns the letterhead for the reports.
func (c IssuerConfig) letterhead() (report.Issuer, error) {
	i := report.Issuer{Name: c.Name, Address: strings.TrimRight(c.Address, "\n"), Support: c.Support}
	err := errors.Join(lines("name", i.Name, 1), lines("address", i.Address, mostIssuerAddress), lines("support", i.Support, 1))
	if c.Logo == "" {
		return i, err
	}
	logo, unread := readLogo(c.Logo)
	i.Logo = logo
	return i, errors.Join(err, prefixed("issuer.logo: ", unread))
}

// lines returns an error if a text has too many lines or a line that is too long.
func lines(name, text string, most int) error {
	all := strings.Split(text, "\n")
	if len(all) > most {
		return fmt.Errorf("configuration: issuer.%s has %d lines; at most %d fit", name, len(all), most)
	}
	for _, line := range all {
		if utf8.RuneCountInString(line) > longestIssuerLine || !utf8.ValidString(line) || strings.ContainsFunc(line, unicode.IsControl) {
			return fmt.Errorf("configuration: a line of issuer.%s must be text of at most %d characters", name, longestIssuerLine)
		}
	}
	return nil
}

func readLogo(path string) (*report.Logo, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // read only
	b, err := io.ReadAll(io.LimitReader(f, report.LogoBytes+1))
	if err != nil {
		return nil, err
	}
	return report.ReadLogo(b)
}
