package httpapi

import (
	"errors"
	"io"
	"testing"

	"pgregory.net/rapid"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// TestBodyBudget checks that any sequence of take and release keeps the total within the
// limit and each credential within its share, and leaves room for one more credential.
func TestBodyBudget(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const limit = 1000
		b, held := newBodyBudget(limit), map[string][]int{}
		t.Repeat(map[string]func(*rapid.T){
			"take": func(t *rapid.T) {
				who, n := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "who"), rapid.IntRange(1, 400).Draw(t, "n")
				free, own := limit-b.used, b.held[who]
				switch err := b.take(who, n); {
				case err == nil:
					if held[who] = append(held[who], n); own+n > free {
						t.Fatalf("%s holds %d and got %d of %d", who, own, n, free)
					}
				case errors.Is(err, errBudgetSpent) && n <= free, errors.Is(err, errShareSpent) && own+n <= free:
					t.Fatalf("%s holds %d and does not get %d of %d: %v", who, own, n, free, err)
				}
			},
			"release": func(t *rapid.T) {
				who := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "who")
				if n := len(held[who]); n > 0 {
					b.release(who, held[who][n-1])
					held[who] = held[who][:n-1]
				}
			},
			"": func(t *rapid.T) {
				sum := 0
				for who, all := range held {
					own := 0
					for _, n := range all {
						own += n
					}
					if b.held[who] != own {
						t.Fatalf("%s holds %d, want %d", who, b.held[who], own)
					}
					sum += own
				}
				if sum != b.used || sum > limit {
					t.Fatalf("%d are used, want %d", b.used, sum)
				}
				// Three credentials with full shares leave a fifth of the budget.
				if b.take("new", limit/5-400/5) == nil {
					b.release("new", limit/5-400/5)
				} else if sum < limit*4/5 {
					t.Fatalf("a new credential gets nothing with %d used", sum)
				}
			},
		})
		for who, all := range held {
			for _, n := range all {
				b.release(who, n)
			}
		}
		if b.used != 0 || len(b.held) != 0 {
			t.Fatalf("%d remain in use by %v", b.used, b.held)
		}
	})
}

// drip is a body that arrives one byte at a time and calls check before each byte.
type drip struct {
	left, sent int
	check      func(sent int)
}

func (d *drip) Read(p []byte) (int, error) {
	d.check(d.sent)
	if d.left == 0 {
		return 0, io.EOF
	}
	n := min(d.left, len(p), 1000)
	d.left, d.sent = d.left-n, d.sent+n
	return n, nil
}

// TestReceivedBodyMemory checks that an incomplete body uses about as much
// memory as was received, and that a body over the limit is not read to its end.
func TestReceivedBodyMemory(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 1, freeBody, freeBody + 1, 100_000, api.MaxBodyBytes, api.MaxBodyBytes + 1, 3 * api.MaxBodyBytes} {
		budget := newBodyBudget(64 << 20)
		b := &receivedBody{budget: budget, credential: "c"}
		err := b.read(&drip{left: size, check: func(sent int) {
			if most := max(freeBody, 2*sent); cap(b.data) > most+1 || budget.used > most {
				t.Fatalf("%d were sent, the buffer has %d and %d are used", sent, cap(b.data), budget.used)
			}
		}})
		if want := min(size, api.MaxBodyBytes+1); err != nil || len(b.data) != want {
			t.Errorf("%d of %d were read, %v", len(b.data), size, err)
		}
		b.release()
		if budget.used != 0 {
			t.Errorf("%d remain in use", budget.used)
		}
	}
}
