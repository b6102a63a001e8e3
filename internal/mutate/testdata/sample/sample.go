// Package sample has a place for each kind of mutant. Its tests notice all but those of
// unnoticed, and do not reach those of unreached.
package sample

import (
	"errors"
	"strings"
	"time"
)

type flag bool

func noticed(list []string, limit time.Duration, strings string) (sum int, err error) {
	if limit < 0 && list != nil || limit > 9*time.Second {
		return -1, errors.New("limit" + strings)
	}
	for i := 0; i < len(list); i++ {
		switch {
		case len(list[i]) >= 3:
			sum += len(list[i]) - 1
		default:
			sum = sum + 1
		}
	}
	return sum, nil
}

func unnoticed(b *strings.Builder, on flag) *strings.Builder {
	if on {
		b.WriteString("unnoticed")
	}
	return b
}

func unreached(errors int) error {
	if errors <= 0 {
		return nil
	}
	panic("unreached")
}

func origin() struct{ x, y int } { return struct{ x, y int }{} }
