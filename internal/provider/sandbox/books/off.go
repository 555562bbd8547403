package books

import "context"

// SwitchOff returns a Control, whose request body is such as {"off": true}. While it is on, the
// provider refuses new requests of this kind before it begins them.
func (b *Books) SwitchOff(kind string) Control {
	return Steer(func(ctx context.Context, req struct {
		Off bool `json:"off"`
	},
	) (any, error) {
		value := ""
		if req.Off {
			value = "off"
		}
		return Success, b.Set(ctx, kind, value)
	})
}

// IsOff reports whether new requests of this kind are refused.
func (b *Books) IsOff(ctx context.Context, kind string) (bool, error) {
	value, err := b.Setting(ctx, kind)
	return value != "", err
}
