package transport

import (
	"errors"
	"testing"
)

// Only the 404 of an operation whose path names an object is about an object.
func TestNotFound(t *testing.T) {
	for _, collection := range []bool{false, true} {
		if errors.Is(&Error{Status: 404, collection: collection}, ErrNotFound) == collection {
			t.Errorf("collection %t", collection)
		}
	}
}
