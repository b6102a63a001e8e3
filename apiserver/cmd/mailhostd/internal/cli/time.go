package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// TimeFlag is a time, a date or a duration before now.
type TimeFlag struct{ time.Time }

// UnmarshalText implements encoding.TextUnmarshaler.
func (f *TimeFlag) UnmarshalText(text []byte) (err error) {
	if d, ok := parseDuration(string(text)); ok {
		f.Time = time.Now().Add(-d)
		return nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if f.Time, err = time.Parse(layout, string(text)); err == nil {
			return nil
		}
	}
	return fmt.Errorf("%.64q is neither a time such as 2026-03-14T15:00:00Z, nor a date such as 2026-03-14, nor a duration such as 24h or 7d", text)
}

// DeadlineFlag is a time, a date or a duration from now.
type DeadlineFlag struct{ time.Time }

// UnmarshalText implements encoding.TextUnmarshaler.
func (f *DeadlineFlag) UnmarshalText(text []byte) (err error) {
	if d, ok := parseDuration(string(text)); ok {
		f.Time = time.Now().Add(d)
		return nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if f.Time, err = time.Parse(layout, string(text)); err == nil {
			return nil
		}
	}
	return fmt.Errorf("%.64q is neither a duration such as 90d, nor a date such as 2027-03-14, nor a time such as 2027-03-14T15:00:00Z", text)
}

// parseDuration parses a duration of Go, or a number of days.
func parseDuration(text string) (time.Duration, bool) {
	if days, isDays := strings.CutSuffix(text, "d"); isDays {
		n, err := strconv.ParseUint(days, 10, 16) // more would overflow
		return time.Duration(n) * 24 * time.Hour, err == nil
	}
	d, err := time.ParseDuration(text)
	return d, err == nil && d >= 0
}
