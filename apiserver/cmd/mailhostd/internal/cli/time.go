package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// TimeFlag is a time, a date or a duration before now.
type TimeFlag struct{ time.Time }

func (f *TimeFlag) UnmarshalText(text []byte) (err error) {
	f.Time, err = parseTime(string(text), -1)
	return err
}

// DeadlineFlag is a time, a date or a duration from now.
type DeadlineFlag struct{ time.Time }

func (f *DeadlineFlag) UnmarshalText(text []byte) (err error) {
	f.Time, err = parseTime(string(text), 1)
	return err
}

// parseTime parses a time, a date, or a duration from now; with the sign -1, before now.
func parseTime(text string, sign time.Duration) (time.Time, error) {
	if d, ok := parseDuration(text); ok {
		return time.Now().Add(sign * d), nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%.64q is neither a time such as 2026-03-14T15:00:00Z, nor a date such as 2026-03-14, nor a duration such as 24h or 7d", text)
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
