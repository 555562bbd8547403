package app

import (
	"time"

	"github.com/kobo-waas/kobo/internal/api"
	"github.com/kobo-waas/kobo/internal/limit"
)

// limits returns the rate limits of this program, or nil if they are off.
func (a *App) limits() *api.Limits {
	l := a.cfg.Limits.limits()
	if l != nil {
		l.Programs = a.Keyring.Running
	}
	return l
}

func (c LimitConfig) limits() *api.Limits {
	if c.Off {
		return nil
	}
	return &api.Limits{
		Company: api.Limit{Requests: c.CompanyPerSecond, Period: time.Second, Burst: c.CompanyBurst},
		Token:   api.Limit{Requests: c.TokenPerMinute, Period: time.Minute, Burst: c.TokenPerMinute},

		Callbacks: api.Limit{Requests: c.CallbacksPerSecond, Period: time.Second, Burst: c.CallbacksBurst},
	}
}

// visits returns the limit of the visits of one person of a company, or nil if the limits are off.
func (c LimitConfig) visits() *limit.Limit {
	if c.Off {
		return nil
	}
	return &limit.Limit{Requests: c.PersonPerSecond, Period: time.Second, Burst: c.PersonBurst}
}
