package sample

import (
	"strings"
	"testing"
	"time"
)

func Test(t *testing.T) {
	for _, c := range []struct {
		list  []string
		limit time.Duration
		want  int
		fails string
	}{
		{[]string{"ab", "abc", "abcd"}, 9 * time.Second, 6, ""},
		{[]string{"a"}, 0, 1, ""},
		{nil, -1, 0, ""},
		{[]string{"a"}, -1, -1, "limit!"},
		{nil, 10 * time.Second, -1, "limit!"},
	} {
		got, err := noticed(c.list, c.limit, "!")
		if got != c.want || (err != nil) != (c.fails != "") || err != nil && err.Error() != c.fails {
			t.Errorf("%+v is %d, %v", c, got, err)
		}
	}
	unnoticed(new(strings.Builder), true)
}
