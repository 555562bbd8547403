// Command walk walks the console in a real browser, as people do, and looks for what a browser alone can
// find. Run it as
//
//	make console-walk
//
// It starts a development program of its own on a free port, and a headless Chromium. It signs operators in,
// follows an unknown payout until it is paid while the clock moves, has a case decided by two people, onboards a company,
// invites an operator, books a credit that only the bank's statement has, and visits every page at three widths, light and dark. Then people of the company pay in bulk, rotate a secret and issue an API
// key by two. It fails if a page misbehaves in the walk, if axe finds a serious or critical
// violation, if a page scrolls sideways or writes an error to the console of the browser, or if a page asks another
// host. The pictures are in the folder of -pictures.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"
)

func main() {
	kobo := flag.String("kobo", "bin/kobo", "the program")
	axe := flag.String("axe", "", "the file axe.min.js of axe-core; empty: no check by axe")
	chromium := flag.String("chromium", "/usr/bin/chromium", "the browser")
	pictures := flag.String("pictures", "", "the folder for the pictures; empty: none are kept")
	flag.Parse()
	ctx, stop := context.WithTimeout(context.Background(), 15*time.Minute)
	err := run(ctx, *kobo, *axe, *chromium, *pictures)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "walk:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, kobo, axe, chromium, pictures string) error {
	script := ""
	if axe != "" {
		text, err := os.ReadFile(axe)
		if err != nil {
			return err
		}
		script = string(text)
	}
	p, err := start(ctx, kobo)
	if err != nil {
		return err
	}
	defer p.stop()
	b, err := open(ctx, chromium, p.origin(), script, pictures)
	if err != nil {
		return err
	}
	defer b.close()
	for _, step := range []struct {
		name string
		walk func(*program, *browser) error
	}{
		{"sign in", signIn},
		{"follow an unknown payout until it is paid", followPayout},
		{"a company's owner signs in", signInCompany},
		{"pay in bulk, with one bad line", payInBulk},
		{"download a statement as PDF", downloadPDF},
		{"sell, put money on a card, move money", useServices},
		{"rotate a webhook's secret", rotateSecret},
		{"two people of a company issue a key", issueByTwo},
		{"decide a case by two people", decideCase},
		{"onboard a company by two people", onboard},
		{"invite an operator by a link and a code", invite},
		{"book a planted break by two people", bookBreak},
		{"find a payout by its session id", findBySession},
		{"every page at three widths, light and dark", everyPage},
		{"make a passkey, and sign in by it", usePasskey},
		{"sign out", signOut},
		{"every page of a company at three widths", everyAppPage},
	} {
		began := time.Now()
		if err := step.walk(p, b); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
		if err := b.complaints(); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
		fmt.Printf("%-50s %5.1f s\n", step.name, time.Since(began).Seconds())
	}
	return nil
}
