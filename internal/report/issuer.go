package report

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"image"
	"image/color"
	_ "image/jpeg"
	_ "image/png"
	"strings"
)

// Issuer is the issuer of statements: the fintech that runs Kobo. A statement without an
// issuer has no letterhead.
type Issuer struct {
	Name    string
	Address string // may have several lines
	Support string // a phone number or an address for customers
	Logo    *Logo
}

func (i Issuer) lines() (out []string) {
	for _, line := range strings.Split(strings.Join([]string{i.Name, i.Address, i.Support}, "\n"), "\n") {
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, line)
		}
	}
	return out
}

// Logo is a picture, compressed in the way that a PDF contains it.
type Logo struct {
	width, height int
	space, filter string // the colour space and the compression
	pixels, alpha []byte // the colours and their opacity; an opaque picture has no alpha
}

// These are the limits of a logo's size. A logo is small because every statement contains it.
const (
	LogoBytes  = 512 << 10
	LogoPixels = 1000 // in each direction
)

// ReadLogo reads a logo from a PNG or a JPEG file.
func ReadLogo(file []byte) (*Logo, error) {
	if len(file) > LogoBytes {
		return nil, fmt.Errorf("larger than %d KiB", LogoBytes>>10)
	}
	// The size is checked before the pixels are read, since a small file can hold a huge
	// picture.
	head, format, err := image.DecodeConfig(bytes.NewReader(file))
	if err != nil {
		return nil, fmt.Errorf("neither PNG nor JPEG: %w", err)
	}
	if head.Width < 1 || head.Height < 1 || head.Width > LogoPixels || head.Height > LogoPixels {
		return nil, fmt.Errorf("%d by %d pixels; at most %d each way", head.Width, head.Height, LogoPixels)
	}
	if head.ColorModel == color.CMYKModel {
		return nil, errors.New("in the colours of print (CMYK); save it as RGB")
	}
	picture, _, err := image.Decode(bytes.NewReader(file))
	if err != nil {
		return nil, err
	}
	logo := &Logo{width: head.Width, height: head.Height, space: "DeviceRGB"}
	if format == "png" {
		return logo, logo.pack(picture)
	}
	// A PDF can contain a JPEG file as it is.
	if head.ColorModel == color.GrayModel {
		logo.space = "DeviceGray"
	}
	logo.filter, logo.pixels = "DCTDecode", file
	return logo, nil
}

// pack compresses the pixels of a picture, row by row.
func (l *Logo) pack(picture image.Image) (err error) {
	at, opaque := picture.Bounds(), true
	var pixels, alpha []byte
	for y := at.Min.Y; y < at.Max.Y; y++ {
		for x := at.Min.X; x < at.Max.X; x++ {
			c := color.NRGBAModel.Convert(picture.At(x, y)).(color.NRGBA)
			pixels, alpha = append(pixels, c.R, c.G, c.B), append(alpha, c.A)
			opaque = opaque && c.A == 0xff
		}
	}
	l.filter = "FlateDecode"
	if l.pixels, err = deflate(pixels); err == nil && !opaque {
		l.alpha, err = deflate(alpha)
	}
	return err
}

func deflate(content []byte) ([]byte, error) {
	var out bytes.Buffer
	w := zlib.NewWriter(&out)
	_, err := w.Write(content)
	err = errors.Join(err, w.Close())
	return out.Bytes(), err
}

// logo writes the PDF objects of a logo, and returns the logo's entry for the pages' resources.
func (p *pdf) logo(l *Logo) string {
	if l == nil {
		return ""
	}
	write := func(entries, space, filter string, packed []byte) int {
		number := p.reserve()
		p.object(number, fmt.Sprintf("<</Type/XObject/Subtype/Image/Width %d/Height %d/BitsPerComponent 8/ColorSpace/%s%s/Filter/%s/Length %d>>\nstream\n%s\nendstream",
			l.width, l.height, space, entries, filter, len(packed), packed))
		return number
	}
	mask := ""
	if l.alpha != nil {
		mask = fmt.Sprintf("/SMask %d 0 R", write("", "DeviceGray", "FlateDecode", l.alpha))
	}
	return fmt.Sprintf("/Logo %d 0 R", write(mask, l.space, l.filter, l.pixels))
}

func (p *drawing) letterhead() {
	const top, room, height points = 16_00, 160_00, 44_00
	i := p.statement.issuer
	if l := i.Logo; l != nil {
		// Scale the logo to the size of the box, and preserve its proportions.
		w, h := room, room*points(l.height)/points(l.width)
		if h > height {
			w, h = height*points(l.width)/points(l.height), height
		}
		p.picture("Logo", margin, top, max(w, 1), max(h, 1))
		p.y = top + height + 12_00
	}
	y, look := top, style{bold, 11_00, navy}
	for _, line := range i.lines() {
		y += look.size + 1_50
		p.right(look, edge, y, across-room-12_00, line)
		look = label
	}
	if y > top {
		p.y = max(p.y, y+12_00)
	}
}
