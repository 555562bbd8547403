package console

import (
	"errors"
	"io"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/kobo-waas/kobo/internal/fault"
)

// fileField is the field of a form that has a text file, and textField the field that the text of the file replaces. So
// everything behind a form handles a file as text that somebody has typed: the proof, and the form that comes back.
const (
	fileField = "file"
	textField = "lines"
)

// parseForm reads the fields of a form, with the text of its file.
func (v *visit) parseForm() error {
	if !strings.HasPrefix(v.Header.Get("Content-Type"), "multipart/form-data") {
		return v.ParseForm()
	}
	if err := v.ParseMultipartForm(maxForm); err != nil {
		return err
	}
	if v.PostForm == nil {
		v.PostForm = url.Values{}
	}
	for _, one := range v.MultipartForm.File[fileField] {
		if one.Size == 0 {
			continue // a browser sends an empty file if nobody has chosen one
		}
		f, err := one.Open()
		if err != nil {
			return err
		}
		text, err := io.ReadAll(f)
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
		if v.fileProblem = badText(text); v.fileProblem == nil {
			v.PostForm.Set(textField, strings.TrimPrefix(string(text), "\ufeff"))
		}
	}
	return nil
}

// badText returns why the bytes of a file are no text that a page can show, or nil.
func badText(text []byte) error {
	switch {
	case strings.HasPrefix(string(text), "PK\x03\x04"):
		return fault.New(fault.Invalid, "The file is a workbook. Save it as CSV, with the encoding UTF-8.")
	case !utf8.Valid(text):
		return fault.New(fault.Invalid, "The file is not UTF-8. Save it as CSV, with the encoding UTF-8.")
	case strings.ContainsRune(string(text), 0):
		return fault.New(fault.Invalid, "The file is no text. Save it as CSV, with the encoding UTF-8.")
	}
	return nil
}
