package provider

import "encoding/json"

// MeterCodes has the codes that come in addition to the token of a prepaid meter. A field that the
// biller does not report is empty.
type MeterCodes struct {
	BonusToken string `json:"bonusToken,omitempty"` // a second token, which adds free units
	// KCT1 and KCT2 change the key of a meter. The customer types both into the meter before the
	// token, because the meter refuses the token otherwise.
	KCT1           string `json:"kct1,omitempty"`
	KCT2           string `json:"kct2,omitempty"`
	ResetToken     string `json:"resetToken,omitempty"`
	ConfigureToken string `json:"configureToken,omitempty"`
	Units          string `json:"units,omitempty"` // the units of energy, such as "79.9 kWh"
}

// Text returns the codes as one text for the database. Without codes, the text is empty.
func (m MeterCodes) Text() string {
	if m == (MeterCodes{}) {
		return ""
	}
	text, err := json.Marshal(m)
	if err != nil {
		panic("provider: texts that are not JSON: " + err.Error()) // JSON can write every text
	}
	return string(text)
}

// ReadMeterCodes returns the codes in a text of MeterCodes.Text.
func ReadMeterCodes(text string) (m MeterCodes) {
	ReadPart(json.RawMessage(text), &m) // an empty text has no codes
	return m
}
