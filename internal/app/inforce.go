package app

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/admin"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/migration"
	"github.com/kobo-waas/kobo/internal/secret"
)

// inForce returns what the operators' API shows of the settings, the versions and the keys.
func (a *App) inForce() admin.InForce {
	return admin.InForce{
		Version: db.Version(), Schema: migration.Latest(), Environment: string(a.cfg.Mode.Environment()), Settings: a.listening().shown(), Keys: a.keysInForce,
	}
}

// listening returns the configuration with the addresses on which the program really listens. `kobo dev` opens its listener before the
// configuration knows the address. Rules go by the configuration itself, such as the one about webhooks to this machine.
func (a *App) listening() Config {
	c := a.cfg
	for _, one := range []struct {
		address *string
		on      net.Listener
	}{{&c.Listen, a.on.Public}, {&c.AdminListen, a.on.Admin}, {&c.MetricsListen, a.on.Metrics}} {
		if one.on != nil {
			*one.address = one.on.Addr().String()
		}
	}
	return c
}

func (a *App) keysInForce(ctx context.Context) (out []admin.KeysOf, err error) {
	for _, r := range a.Keyring.Rings {
		k := admin.KeysOf{Ring: r.Name}
		if k.Lines, err = a.Keyring.Lines(ctx, r.Name); err != nil {
			return nil, err
		}
		if k.Programs, err = a.Keyring.Programs(ctx, r.Name); err != nil {
			return nil, err
		}
		out = append(out, k)
	}
	return out, nil
}

// shown returns the settings in the order of their names. Of a secret it shows only whether it is set.
func (c Config) shown() []admin.Setting {
	out := shownOf(reflect.ValueOf(c), "")
	for _, groups := range []struct {
		below string
		of    map[string]Provider
	}{{"", c.Providers}, {"banks.", c.Banks}} {
		for _, name := range slices.Sorted(maps.Keys(groups.of)) {
			out = append(out, shownOf(reflect.ValueOf(groups.of[name]), groups.below+name+".")...)
		}
	}
	slices.SortFunc(out, func(a, b admin.Setting) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// shownOf returns the settings of a struct. A field whose type has named fields is a group.
func shownOf(v reflect.Value, before string) (out []admin.Setting) {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		return nil
	}
	for f, value := range v.Fields() {
		name := f.Tag.Get("koanf")
		switch {
		case name == "-" || name == "" && !f.Anonymous:
		case f.Anonymous || paths(f.Type) != nil:
			below := before
			if name != "" && !strings.HasPrefix(name, ",") {
				below += name + "."
			}
			out = append(out, shownOf(value, below)...)
		default:
			out = append(out, admin.Setting{Name: before + name, Value: shownValue(value)})
		}
	}
	return out
}

// shownValue returns a value as people may read it. Addresses lose their user, password and query, which
// may contain secrets.
func shownValue(v reflect.Value) string {
	switch value := v.Interface().(type) {
	case secret.Text:
		if value.Reveal() == "" {
			return "(not set)"
		}
		return "(set)"
	case time.Duration:
		return value.String()
	case []string:
		return strings.Join(value, ", ")
	}
	text := fmt.Sprint(v.Interface())
	if !strings.Contains(text, "://") {
		return text
	}
	u, err := url.Parse(text)
	if err != nil {
		return "(set)"
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}
