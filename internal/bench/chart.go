package bench

import (
	"fmt"
	"io"
	"strings"
)

// panel is one diagram of a chart: a few lines over the time of a soak.
type panel struct {
	title string
	unit  int64 // the numbers are divided by it
	lines []line
}

type line struct {
	name string
	of   func(Sample) int64
}

var panels = []panel{
	{"memory, MB", megabyte, []line{
		{"resident", func(s Sample) int64 { return s.Memory }}, {"heap in use", func(s Sample) int64 { return s.Heap }},
	}},
	{"goroutines and open files", 1, []line{
		{"goroutines", func(s Sample) int64 { return s.Goroutines }}, {"open files", func(s Sample) int64 { return s.Handles }},
	}},
	{"operations without an outcome", 1, []line{{"open", func(s Sample) int64 { return s.Open }}}},
	{"their oldest, minutes", 60, []line{{"age", func(s Sample) int64 { return s.OpenAge }}}},
	{"most overdue job and oldest waiting event, s", 1, []line{
		{"job", func(s Sample) int64 { return s.JobLate }}, {"event", func(s Sample) int64 { return s.Event }},
	}},
	{"p99 of successes, ms", 1000, []line{{"p99", func(s Sample) int64 { return s.P99 }}}},
	{"database, MB", megabyte, []line{
		{"all", func(s Sample) int64 { return s.Stored }}, {"largest table", func(s Sample) int64 {
			var most int64
			for _, n := range s.Tables {
				most = max(most, n)
			}
			return most
		}},
	}},
	{"operations, thousands", 1000, []line{{"ended", func(s Sample) int64 { return s.Operations }}}},
}

// The size of a chart and of its parts.
const (
	panelWidth, panelHeight = 420, 190
	left, top               = 56, 34
	plotWidth, plotHeight   = panelWidth - left - 16, panelHeight - top - 34
	columns                 = 2
)

var colours = []string{"#1f6feb", "#bf5b04"}

// Chart writes the samples as a picture (SVG). Its background is white, so it is readable beside dark text too.
func (r SoakReport) Chart(out io.Writer) error {
	var b strings.Builder
	rows := (len(panels) + columns - 1) / columns
	width, height := columns*panelWidth, rows*panelHeight+30
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="sans-serif" font-size="11">`+"\n", width, height, width, height)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="#ffffff"/>`+"\n", width, height)
	fmt.Fprintf(&b, `<text x="12" y="20" font-size="13" fill="#1b1f24">%d operations a second with faults, %s, from %s UTC; time in minutes</text>`+"\n",
		r.Rate, r.Engine, r.Began.Format("2006-01-02 15:04"))
	for i, p := range panels {
		p.draw(&b, r.Samples, i%columns*panelWidth, i/columns*panelHeight+30)
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(out, b.String())
	return err
}

// draw draws a panel whose upper left corner is at x and y.
func (p panel) draw(b *strings.Builder, all []Sample, x, y int) {
	highest, longest := int64(1), int64(1)
	for _, s := range all {
		longest = max(longest, s.Seconds)
		for _, l := range p.lines {
			highest = max(highest, (l.of(s)+p.unit-1)/p.unit)
		}
	}
	highest = ceiling(highest)
	fmt.Fprintf(b, `<g transform="translate(%d %d)">`+"\n", x, y)
	fmt.Fprintf(b, `<text x="%d" y="16" font-weight="bold" fill="#1b1f24">%s</text>`+"\n", left, p.title)
	for _, part := range []int{0, 1, 2} {
		at := top + plotHeight*part/2
		fmt.Fprintf(b, `<line x1="%d" y1="%d" x2="%d" y2="%d" stroke="#d0d7de"/>`, left, at, left+plotWidth, at)
		fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="end" fill="#57606a">%s</text>`+"\n", left-6, at+4, tenths(highest*int64(2-part), 2))
	}
	for _, part := range []int64{0, 1, 2} {
		fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="middle" fill="#57606a">%s</text>`+"\n",
			left+int(plotWidth*part/2), top+plotHeight+16, tenths(longest*part, 120))
	}
	for n, l := range p.lines {
		var points strings.Builder
		for _, s := range all {
			fmt.Fprintf(&points, "%d,%d ", left+int(plotWidth*s.Seconds/longest), top+plotHeight-int(plotHeight*l.of(s)/(highest*p.unit)))
		}
		fmt.Fprintf(b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="1.5"/>`, strings.TrimSpace(points.String()), colours[n])
		fmt.Fprintf(b, `<text x="%d" y="%d" fill="%s">%s</text>`+"\n", left+n*90, top-5, colours[n], l.name)
	}
	b.WriteString("</g>\n")
}

// ceiling returns the next number of the form 1, 2 or 5 times a power of ten, but at least 2.
func ceiling(n int64) int64 {
	for step := int64(1); ; step *= 10 {
		for _, times := range []int64{2, 5, 10} {
			if n <= step*times {
				return step * times
			}
		}
	}
}
