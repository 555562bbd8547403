package report_test

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/report"
)

// drawn returns a picture whose left half is red and whose right half is transparent.
func drawn(w, h int) *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w / 2 {
			m.SetNRGBA(x, y, color.NRGBA{R: 0xff, A: 0xff})
		}
	}
	return m
}

func encoded(t *testing.T, m image.Image, asJPEG bool) []byte {
	t.Helper()
	var out bytes.Buffer
	if asJPEG {
		must(t, jpeg.Encode(&out, m, nil))
	} else {
		must(t, png.Encode(&out, m))
	}
	return out.Bytes()
}

var issuer = report.Issuer{Name: "Ọjà Pay Limited", Address: "1 Marina\nLagos", Support: "help@oja.example"}

// The letterhead of a statement names the fintech, not the bank.
func TestTheLetterheadIsTheIssuers(t *testing.T) {
	w := newWorld(t, dbtest.New(t, db.SQLite))
	w.fortnight()
	bare := printed(t, w.statement(time.Time{}, time.Time{}))
	if n := strings.Count(bare, "Safe Haven MFB\n"); n != 1 {
		t.Errorf("the bank is named %d times, and belongs among the facts of the account alone:\n%s", n, bare)
	}
	w.Service = report.WithLetterhead(w.db, w.clock, issuer)
	s := w.statement(time.Time{}, time.Time{})
	readPDF(t, s)
	readXLSX(t, s)
	if head := "Ọjà Pay Limited\n1 Marina\nLagos\nhelp@oja.example\nAccount statement\n"; !strings.HasPrefix(printed(t, s), head) {
		t.Errorf("the paper begins\n%.200s", printed(t, s))
	}
	rows, err := workbook(t, s, 1<<20).GetRows("Statement")
	must(t, err)
	for i, want := range []string{"Ọjà Pay Limited", "1 Marina", "Lagos", "help@oja.example"} {
		if r := rows[i+1]; len(r) != 4 || r[3] != want {
			t.Errorf("row %d of the workbook is %q", i+1, r)
		}
	}
}

func TestALogoIsInThePDF(t *testing.T) {
	w := newWorld(t, dbtest.New(t, db.SQLite))
	w.fortnight()
	grey := image.NewGray(image.Rect(0, 0, 30, 60))
	for name, c := range map[string]struct {
		file []byte
		want []string
	}{
		"png":       {encoded(t, drawn(200, 50), false), []string{"/Width 200/Height 50", "/SMask 7 0 R", "/ColorSpace/DeviceRGB", "/FlateDecode"}},
		"no alpha":  {encoded(t, grey, false), []string{"/Width 30/Height 60", "/ColorSpace/DeviceRGB/Filter/FlateDecode"}},
		"jpeg":      {encoded(t, drawn(200, 50), true), []string{"/ColorSpace/DeviceRGB/Filter/DCTDecode"}},
		"grey jpeg": {encoded(t, grey, true), []string{"/ColorSpace/DeviceGray/Filter/DCTDecode"}},
	} {
		logo, err := report.ReadLogo(c.file)
		must(t, err)
		for _, i := range []report.Issuer{{Logo: logo}, {Name: "Ọjà Pay", Logo: logo}} {
			w.Service = report.WithLetterhead(w.db, w.clock, i)
			s := w.statement(time.Time{}, time.Time{})
			readPDF(t, s)
			file := pdf(t, s)
			p := readPaper(t, file)
			number := p.find(p.objects["3 0 R"], `/Logo (\d+ 0 R)`)[1]
			for _, want := range c.want {
				if !strings.Contains(p.objects[number], want) {
					t.Errorf("%s: the picture is %.200q, without %s", name, p.objects[number], want)
				}
			}
			others(t, file)
		}
	}
}

// others checks the PDF with two other programs, as far as they are installed.
func others(t *testing.T, paper []byte) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "statement.pdf")
	must(t, os.WriteFile(file, paper, 0o600))
	for _, program := range [][]string{{"qpdf", "--check", file}, {"pdfimages", "-list", file}} {
		path, err := exec.LookPath(program[0])
		if err != nil {
			continue
		}
		if said, err := exec.Command(path, program[1:]...).CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", program[0], err, said)
		}
	}
}

func TestALogoThatIsRefused(t *testing.T) {
	whole := encoded(t, drawn(200, 50), false)
	for want, file := range map[string][]byte{
		"neither PNG nor JPEG":         []byte("<svg/>"),
		"not enough pixel data":        whole[:len(whole)/2],
		"1001 by 1 pixels":             encoded(t, drawn(1001, 1), false),
		"larger than 512 KiB":          make([]byte, report.LogoBytes+1),
		"neither PNG nor JPEG: image:": nil,
	} {
		if _, err := report.ReadLogo(file); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
