package console

import (
	"testing"
)

// TestRequestLogIsBounded checks that the log stores the newest requests in order, separately for each account.
func TestRequestLogIsBounded(t *testing.T) {
	l := new(requestLog)
	const added = 9 * requestsKept / 2
	for i := range added {
		l.add(request{Status: 200 + i, accountID: []string{"a", "b"}[i%2]})
	}
	last := l.of("a", false, requestsKept)
	if len(l.all) != requestsKept || len(last) != requestsKept/2 || last[0].Status != 200+added-2 || last[len(last)-1].Status != 200+added-requestsKept {
		t.Errorf("%d requests are kept, %d of them of one account, from %d to %d", len(l.all), len(last), last[len(last)-1].Status, last[0].Status)
	}
}
