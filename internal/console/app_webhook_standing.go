package console

import (
	"cmp"
	"regexp"
)

// standing is how an endpoint stands: what has failed, what is under way, and the last answer.
type standing struct {
	failed, underWay int
	last             *delivery // the newest one that was tried; nil for none
	missed           missed
	isPart           bool // there is more than the missed range holds
}

// standingOf asks for the deliveries of an endpoint that have failed, for those under way, and for the newest ones.
func (v *visit) standingOf(path string) (s standing, err error) {
	var newest, failed, waiting listOf[delivery]
	for status, to := range map[string]*listOf[delivery]{"": &newest, "&status=FAILED": &failed, "&status=PENDING": &waiting} {
		if _, err := v.ask("GET", path+"/deliveries?pageSize=100"+status, nil, to); err != nil {
			return s, err
		}
	}
	s.failed, s.underWay = failed.Data.Meta.TotalItems, waiting.Data.Meta.TotalItems
	for _, d := range newest.Data.Data {
		if d.Attempts > 0 {
			s.last = &d
			break
		}
	}
	s.missed = missedOf(append(failed.Data.Data, waiting.Data.Data...))
	s.isPart = len(failed.Data.Data) < s.failed || len(waiting.Data.Data) < s.underWay
	return s, nil
}

// words says what waits.
func (s standing) words() string {
	if s.failed+s.underWay == 0 {
		return "nothing"
	}
	return count(s.underWay, "delivery", "deliveries") + " under way, " + count(s.failed, "given up", "given up")
}

// bound says that the range is that of the newest ones only, if there are more.
func (s standing) bound() string {
	if s.isPart {
		return ", of the newest 100 of each. The list below has the older ones"
	}
	return ""
}

var replayedShape = regexp.MustCompile(`^([0-9]{1,18})-([0-9]{1,18})$`)

// replayed returns the range of events that a form has just sent again, or "".
func (v *visit) replayed() (from, to string) {
	m := replayedShape.FindStringSubmatch(cmp.Or(v.filter("replayed", ""), "-"))
	if m == nil {
		return "", ""
	}
	return m[1], m[2]
}
