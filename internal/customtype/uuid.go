package customtype

import (
	"errors"

	"github.com/google/uuid"
)

// UUID is the id of an object, as five groups of hexadecimal digits. Its case
// does not count.
type UUID = Value[uuidKind]

// UUIDType is the type of [UUID].
type UUIDType = Type[uuidKind]

type uuidKind struct{}

func (uuidKind) rules() rules {
	return rules{
		name:      "UUID",
		noun:      "a UUID such as 7f0c1c1e-6f0e-4d8e-9a3c-1f2a3b4c5d6e",
		normalize: normalizeUUID,
	}
}

func normalizeUUID(s string) (string, error) {
	// uuid.Parse takes other lengths for other forms: a URN, braces, no hyphens.
	const form = "7f0c1c1e-6f0e-4d8e-9a3c-1f2a3b4c5d6e"
	id, err := uuid.Parse(s)
	if err != nil || len(s) != len(form) {
		return "", errors.New("must be a UUID such as " + form)
	}
	return id.String(), nil
}
