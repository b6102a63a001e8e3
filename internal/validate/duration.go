package validate

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
)

// Duration returns a validator of durations from least to most, such as 90m or
// 720h. A most of 0 is no bound.
func Duration(least, most time.Duration) validator.String {
	bounds := "at least " + brief(least)
	if most > 0 {
		bounds = fmt.Sprintf("from %s to %s", brief(least), brief(most))
	}
	return Rule("a duration such as 90m or 720h, "+bounds, func(s string) (string, error) {
		d, err := time.ParseDuration(s)
		switch {
		case err != nil:
			return "", errors.New("must be a duration of hours, minutes and seconds, such as 90m or 720h; a day is 24h")
		case d < least, most > 0 && d > most:
			return "", fmt.Errorf("must be %s, got %.40s", bounds, s)
		}
		return s, nil
	})
}

// brief returns a duration without what is 0 at its end: 1h for 1h0m0s.
func brief(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
