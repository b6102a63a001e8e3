package sqlite

import (
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// TestAccountsTakeTurns checks that an account with many updates does not keep another one
// waiting, and that those of one account keep their order.
func TestAccountsTakeTurns(t *testing.T) {
	q := newQueue()
	names := map[*update]string{}
	push := func(account string, n int) {
		u := new(update)
		names[u] = account + strconv.Itoa(n)
		q.push(account, u)
	}
	for n := range 4 {
		push("a", n)
	}
	push("b", 0)
	push("b", 1)
	order := []string{names[q.wait()]}
	push("c", 0)
	push("a", 4)
	q.close()
	for u := q.next(); u != nil; u = q.next() {
		order = append(order, names[u])
	}
	if got, want := strings.Join(order, " "), "a0 b0 a1 c0 b1 a2 a3 a4"; got != want {
		t.Errorf("the order is %s; want %s", got, want)
	}
	assert.Check(t, len(q.waiting) == 0 && q.wait() == nil, "an empty queue has %v", q.waiting)
}
