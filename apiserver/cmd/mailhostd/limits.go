package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
)

// limitFlags bound what callers may do.
type limitFlags struct {
	RateLimit    rateLimit `placeholder:"REQUESTS/DURATION" help:"How often one credential may call, for instance 600/1m: that many requests at once, and as many again in each duration. Default: as often as it likes."`
	MaxMailboxes int       `placeholder:"NUMBER" help:"How many mailboxes an account may have. Default: any number."`
}

// apply sets the limits that the flags name.
func (f limitFlags) apply(o *apiserver.Options) {
	o.RateLimit, o.MaxMailboxes = apiserver.RateLimit(f.RateLimit), f.MaxMailboxes
}

func (f limitFlags) validate() error {
	if f.MaxMailboxes < 0 {
		return errors.New("--max-mailboxes: must not be negative; 0 is any number")
	}
	return nil
}

// rateLimit is a limit as it is written in a flag.
type rateLimit apiserver.RateLimit

// UnmarshalText implements encoding.TextUnmarshaler.
func (l *rateLimit) UnmarshalText(text []byte) error {
	requests, per, _ := strings.Cut(string(text), "/")
	n, err := strconv.Atoi(requests)
	duration, perErr := time.ParseDuration(per)
	if err != nil || perErr != nil || n < 1 || duration <= 0 {
		return fmt.Errorf("%.64q is no limit; give requests and a duration, for instance 600/1m", text)
	}
	*l = rateLimit{Requests: n, Per: duration}
	return nil
}
