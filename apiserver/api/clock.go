package api

import (
	"context"
	"time"
)

type arrivalKey struct{}

// WithArrival notes when a request has arrived: that is the time of everything
// it does, and of the rules that look at the clock.
func WithArrival(ctx context.Context, t time.Time) context.Context {
	return context.WithValue(ctx, arrivalKey{}, t)
}

// Arrival returns when the request has arrived; the zero time where nobody noted
// it.
func Arrival(ctx context.Context) time.Time {
	t, _ := ctx.Value(arrivalKey{}).(time.Time)
	return t
}

// maxYear is the last year that a timestamp of RFC 3339 can be in; a time whose
// offset takes it past that can't be formatted.
const maxYear = 9999

// ParseTime reads a timestamp of a request as it is stored: UTC, to the
// microsecond.
func ParseTime(s string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339, s)
	if err == nil && t.UTC().Year() > maxYear {
		err = errInvalid("must not be after the year 9999 in UTC")
	}
	return t.UTC().Truncate(time.Microsecond), err
}

// Timely returns the problem of a service account that would expire before it is
// created. A request under an Idempotency-Key is checked only if it is not replayed: the
// time may have passed meanwhile.
func (r *CreateServiceAccountRequest) Timely(arrival time.Time) *Problem {
	return timely(r.Body.ExpiresAt, arrival, true, "expires_at")
}

// Timely returns the problem of a plan change in the past.
func (r *ChangePlanRequest) Timely(arrival time.Time) *Problem {
	return timely(r.Body.EffectiveDate, arrival, false, "effective_date")
}

// timely checks a time that must not lie before a request's arrival, or where
// after is set must lie after it. What is no timestamp is left to the contract's
// tags.
func timely(s *string, arrival time.Time, after bool, field string) *Problem {
	if s == nil {
		return nil
	}
	t, err := time.Parse(time.RFC3339, *s)
	switch {
	case err != nil:
		return nil //nolint:nilerr // the tag reports it
	case after && !t.After(arrival):
		return Invalid("must be in the future").InBody(field)
	case t.Before(arrival):
		return Invalid("must not be in the past").InBody(field)
	}
	if _, err = ParseTime(*s); err != nil {
		return Invalid("%s", err).InBody(field)
	}
	return nil
}
