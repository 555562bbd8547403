package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

const (
	mostShift = 0.02    // of a page while it loads; the unit is that of Chromium's layout shifts
	mostBytes = 150_000 // of a first load, compressed
)

// measureShift adds up how far the parts of a page jump while it loads. Jumps that follow an input do not count.
const measureShift = `window.walkShift = 0; window.walkShifts = [];
new PerformanceObserver((all) => all.getEntries().filter((e) => !e.hadRecentInput).forEach((e) => {
	window.walkShift += e.value;
	window.walkShifts.push(e.sources.map((s) => s.node && (s.node.id || s.node.className || s.node.nodeName)).join(" "));
})).observe({type: "layout-shift", buffered: true});`

// visitAll visits the pages below a prefix to which links lead from the first ones, one of each kind. It loads each page on a
// screen and on a phone, and looks at it in every width, light and dark. 320 pixels are also a page at 400 %.
func visitAll(b *browser, below string, paths ...string) error {
	seen := map[string]bool{}
	for _, path := range paths {
		seen[kindOf(path)] = true
	}
	for n := 0; n < len(paths); n++ {
		name := strings.Trim(strings.NewReplacer("/", "-", "?", "-", "=", "-", "&", "-").Replace(paths[n]), "-")
		links, err := visitOne(b, below, paths[n], name)
		if err != nil {
			return fmt.Errorf("%s: %w", paths[n], err)
		}
		for _, link := range links {
			if kind := kindOf(link); !seen[kind] {
				seen[kind] = true
				paths = append(paths, link)
			}
		}
	}
	if len(paths) < 6 {
		return fmt.Errorf("only %d pages were found: %q", len(paths), paths)
	}
	fmt.Printf("%d kinds of pages: %q\n", len(paths), paths)
	return b.look(1280, false)
}

// visitOne looks at one page, and returns its links below a prefix.
func visitOne(b *browser, below, path, name string) (links []string, err error) {
	for _, one := range []struct {
		width            int64
		dark, load, deep bool
	}{
		{width: 1280, load: true, deep: true},
		{width: 1280, dark: true},
		{width: 2560},
		{width: 768},
		{width: 320},
		{width: 360, dark: true, load: true, deep: true},
		{width: 360},
	} {
		if err := b.look(one.width, one.dark); err != nil {
			return nil, err
		}
		if one.load {
			if err := b.load(path, fmt.Sprint(name, " at ", one.width)); err != nil {
				return nil, err
			}
		}
		colours := map[bool]string{false: "light", true: "dark"}[one.dark]
		if err := b.check(fmt.Sprintf("%s-%d-%s", name, one.width, colours), one.deep); err != nil {
			return nil, err
		}
		if one.load {
			if err := b.targets(fmt.Sprint(name, " at ", one.width)); err != nil {
				return nil, err
			}
		}
		switch {
		case one.width == 320:
			err = b.loses(name)
		case one.load && one.width == 1280:
			if err := b.hides(name); err != nil {
				return nil, err
			}
			err = b.do(chromedp.Evaluate(`[...document.querySelectorAll('a[href^="`+below+`"]:not([download])')].map((a) => a.getAttribute("href"))`, &links))
		}
		if err != nil {
			return nil, err
		}
	}
	return links, nil
}

// smallTargets lists what somebody can click in the page outside of running text, and is smaller than 24 by 24 pixels (WCAG 2.2, 2.5.8).
const smallTargets = `(() => {
	const out = [];
	for (const e of document.querySelectorAll("main a, main button, main summary, main select, main input:not([type=hidden])")) {
		if (!e.checkVisibility({visibilityProperty: true}) || e.closest(".hidden")) continue;
		const inText = getComputedStyle(e).display === "inline" && [...e.parentElement.childNodes].some((n) => n.nodeType === 3 && /\p{L}/u.test(n.textContent));
		const at = e.getBoundingClientRect();
		if (!inText && (at.height < 23.9 || at.width < 23.9)) out.push(at.width.toFixed(0) + " by " + at.height.toFixed(0) + ": " + e.outerHTML.slice(0, 100) + " in " + e.parentElement.outerHTML.slice(0, 60));
	}
	return out;
})()`

// targets complains about links, buttons and fields that are too small for a finger.
func (b *browser) targets(name string) error {
	var small []string
	err := b.do(chromedp.Evaluate(smallTargets, &small))
	if len(small) > 0 {
		b.complain("%s has %d small targets:\n  %s", name, len(small), strings.Join(small, "\n  "))
	}
	return err
}

// wordsSeen lists what somebody can read on the page. The heads of tables stand beside each cell on a phone, the menu is at the
// bottom there, and times that go on count as they are.
const wordsSeen = `(() => {
	const all = new Set(), walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	for (let n = walker.nextNode(); n; n = walker.nextNode()) {
		const e = n.parentElement, text = n.textContent.trim();
		if (!text || e.closest("thead, nav.side, nav.tabbar, .hidden, .skip, [data-until], [data-since], [data-live]") || !e.checkVisibility()) continue;
		const at = e.getBoundingClientRect();
		if (at.width > 1 && at.height > 1) all.add(text);
	}
	return [...all];
})()`

// cutOff lists what a narrow page cuts off, where it does not scroll: texts, links of the menu, and the heads of cells.
const cutOff = `(() => {
	const out = [];
	for (const e of document.querySelectorAll("main *, header.top *")) {
		const style = getComputedStyle(e);
		if (style.overflowX === "hidden" && e.scrollWidth > e.clientWidth + 1 && !e.closest(".hidden, thead, .chart")) out.push("cut off: " + e.textContent.trim().slice(0, 40));
	}
	for (const e of document.querySelectorAll("main *, header.top *")) {
		const own = [...e.childNodes].filter((n) => n.nodeType === 3).map((n) => n.textContent.trim()).join(" "), at = e.getBoundingClientRect();
		if (own.length > 12 && at.width > 1 && at.width < 28 && e.checkVisibility() && !e.closest(".hidden, .scroll, thead")) out.push("squeezed to " + at.width + " pixels: " + own.slice(0, 40));
	}
	const below = new Set([...document.querySelectorAll("nav.tabbar a")].map((a) => a.getAttribute("href")));
	for (const a of document.querySelectorAll("nav.side a")) if (!below.has(a.getAttribute("href"))) out.push("not in the menu: " + a.textContent.trim());
	for (const table of document.querySelectorAll("table.stack")) {
		const heads = [...table.querySelectorAll("thead th")].map((h) => h.textContent.trim());
		for (const row of table.querySelectorAll("tbody tr")) [...row.children].forEach((cell, i) => {
			if (heads[i] && cell.textContent.trim() && cell.colSpan === 1 && !cell.dataset.label) out.push("a cell without its head " + heads[i]);
		});
	}
	return out;
})()`

// loses complains about words that are seen on a screen, and not on a narrow page. A page may change by itself between the two
// looks, so it has three chances. It ends on the narrow page.
func (b *browser) loses(name string) error {
	var lost []string
	for range 3 {
		var wide, narrow []string
		if err := errors.Join(b.look(1280, false), b.do(chromedp.Evaluate(wordsSeen, &wide)), b.look(320, false), b.do(chromedp.Evaluate(wordsSeen, &narrow), chromedp.Evaluate(cutOff, &lost))); err != nil {
			return err
		}
		for _, one := range wide {
			if !slices.Contains(narrow, one) {
				lost = append(lost, fmt.Sprintf("lost: %q", one))
			}
		}
		if len(lost) == 0 {
			return nil
		}
	}
	b.complain("%s at 400 %%: %s", name, strings.Join(lost, "; "))
	return nil
}

// hides complains about tables with columns that a screen shows only after somebody has scrolled to the side.
func (b *browser) hides(name string) error {
	var tables []string
	err := b.do(chromedp.Evaluate(`[...document.querySelectorAll("main .scroll")].filter((e) => e.scrollWidth > e.clientWidth + 1)
		.map((e) => (e.ariaLabel || "table") + " by " + (e.scrollWidth - e.clientWidth) + " pixels, with the cells " +
			[...e.querySelectorAll("td, th")].sort((x, y) => y.offsetWidth - x.offsetWidth).slice(0, 4).map((c) => c.offsetWidth + ": " + c.textContent.trim().slice(0, 80)).join(" | "))`, &tables))
	if len(tables) > 0 {
		b.complain("%s hides columns on a screen: %s", name, strings.Join(tables, ", "))
	}
	return err
}

// load loads a page, and complains if it jumps meanwhile. On a busy machine a browser may draw half a table first, so a page that
// jumps has three loads: one that is made to jump does so each time.
func (b *browser) load(path, name string) error {
	var jumped float64
	var what []string
	for range 3 {
		if err := b.visit(path); err != nil {
			return err
		}
		if err := b.do(chromedp.Evaluate(`window.walkShift`, &jumped), chromedp.Evaluate(`window.walkShifts`, &what)); err != nil {
			return err
		}
		if jumped <= mostShift {
			return nil
		}
	}
	b.complain("%s jumps by %.3f while it loads: %q", name, jumped, what)
	return nil
}

// firstLoad measures pages that a browser without a cache loads, and how much comes over the network.
func firstLoad(p *program, b *browser) error {
	unknown, err := p.payout("0123456708", 1358)
	if err != nil {
		return err
	}
	for _, path := range []string{"/console/overview", "/console/payments", "/console/p/" + unknown, "/app/home", "/app/payouts", "/app/p/" + unknown} {
		tab, err := b.tab()
		if err != nil {
			return err
		}
		loaded, err := weigh(tab, path)
		tab.close()
		if err != nil {
			return err
		}
		if loaded > mostBytes || loaded < 10_000 {
			return fmt.Errorf("%s loads %.0f bytes", path, loaded)
		}
		fmt.Printf("  %-30s %3.0f kB at the first load\n", kindOf(path), loaded/1000)
	}
	return nil
}

// weigh loads a page without a cache, and returns what came over the network.
func weigh(b *browser, path string) (float64, error) {
	if err := b.do(network.SetCacheDisabled(true)); err != nil {
		return 0, err
	}
	if err := b.visit(path); err != nil {
		return 0, err
	}
	if err := errors.Join(b.says("Sign out"), b.complaints()); err != nil {
		return 0, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.bytes, nil
}
