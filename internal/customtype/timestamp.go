package customtype

import (
	"errors"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// Timestamp is a point in time in RFC 3339. Timestamps are equal if they mean
// the same microsecond, in whatever time zone: more the API does not keep.
type Timestamp = Value[timestamp]

// TimestampType is the type of [Timestamp].
type TimestampType = Type[timestamp]

type timestamp struct{}

func (timestamp) rules() rules {
	return rules{
		name:      "Timestamp",
		noun:      "a date and time of RFC 3339 such as 2027-01-01T00:00:00Z",
		normalize: normalizeTimestamp,
	}
}

// normalizeTimestamp returns the form of the API's answers.
func normalizeTimestamp(s string) (string, error) {
	t, err := time.Parse(time.RFC3339, s)
	t = t.UTC()
	if year := t.Year(); err != nil || year < 0 || year > 9999 {
		return "", errors.New("must be a date and time of RFC 3339 with a time zone, such as 2027-01-01T00:00:00Z or 2027-01-01T01:00:00+01:00")
	}
	return t.Format(api.TimestampLayout), nil
}
