// Command walk walks the console in a real browser, as people do, and looks for what a browser alone can
// find. Run it as
//
//	make console-walk
//
// It starts a development program of its own on a free port, and a headless Chromium. The list in run names the journeys of
// operators and of people of companies. Last it looks at every page from 320 to 2560 pixels, light and dark. It fails if a page misbehaves in the walk, if axe finds a serious or critical
// violation, if a page scrolls sideways, jumps while it loads, loses words on a narrow screen or writes an error to the console of the
// browser, or if a page asks another host. The pictures are in the folder of -pictures.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"regexp"
	"time"
)

func main() {
	kobo := flag.String("kobo", "bin/kobo", "the program")
	axe := flag.String("axe", "", "the file axe.min.js of axe-core; empty: no check by axe")
	chromium := flag.String("chromium", "/usr/bin/chromium", "the browser")
	pictures := flag.String("pictures", "", "the folder for the pictures; empty: none are kept")
	only := flag.String("only", "", "a pattern of names: other steps than the sign-ins are left out, for somebody who writes a step")
	flag.Parse()
	ctx, stop := context.WithTimeout(context.Background(), 15*time.Minute)
	err := run(ctx, *kobo, *axe, *chromium, *pictures, regexp.MustCompile("sign in|"+*only))
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "walk:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, kobo, axe, chromium, pictures string, only *regexp.Regexp) error {
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
		{"sign in, also by a link of another site", signIn},
		{"follow unknown payouts until they end", followPayout},
		{"three people of a company sign in", signInCompany},
		{"pay 300 suppliers, with what a spreadsheet ruins", payInBulk},
		{"download a statement as PDF", downloadPDF},
		{"sell, put money on a card, move money", useServices},
		{"rotate a secret, and replay what was missed", replayMissed},
		{"two people of a company issue a key", issueByTwo},
		{"two people of a company pay", approvePayout},
		{"find a payment as a company", findOwn},
		{"read and download without script", withoutScript},
		{"decide a case by two people", decideCase},
		{"do without a mouse what an operator does", byKeyboard},
		{"onboard a company by two people", onboard},
		{"approve on changed ground", changeGround},
		{"invite an operator by a link and a code", invite},
		{"help a caller in the role support", support},
		{"meet nothing of another company", secondCompany},
		{"book a planted break by two people", bookBreak},
		{"find a payout by its session id", findBySession},
		{"make a passkey, and sign in by it", usePasskey},
		{"fall back on a password and a code", fallBack},
		{"print pages", printed},
		{"change a page without motion", withoutMotion},
		{"cut a page's stream", cutOffStream},
		{"weigh the first load of pages", firstLoad},
		{"every page of operators, and of a company", everyPage},
		{"sign out", signOut},
	} {
		if !only.MatchString(step.name) {
			continue
		}
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
