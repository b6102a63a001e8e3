package transport

import (
	"errors"
	"testing"
	"time"
)

func TestDefaultRoundTripper(t *testing.T) {
	pool := overNetwork()
	if pool.MaxIdleConnsPerHost < 16 || pool.DisableKeepAlives {
		t.Errorf("%+v", pool)
	}
}

func TestBaseURLWithoutSlash(t *testing.T) {
	if base, err := checkBaseURL("https://api.example.com/v9/"); err != nil || base != "https://api.example.com/v9" {
		t.Errorf("%s, %v", base, err)
	}
}

func TestJitterIsBounded(t *testing.T) {
	h := Hooks{}.withDefaults()
	for range 1000 {
		if d := h.Jitter(time.Second); d < 0 || d > time.Second {
			t.Fatalf("jitter %v", d)
		}
	}
}

// TestNotFound checks that only the 404 of an operation with an object in its path means
// that an object is missing.
func TestNotFound(t *testing.T) {
	for _, noObject := range []bool{false, true} {
		if errors.Is(&Error{Status: 404, noObject: noObject}, ErrNotFound) == noObject {
			t.Errorf("no object %t", noObject)
		}
	}
}
