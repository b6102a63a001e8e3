package apiserver_test

import (
	"encoding/base32"
	"encoding/binary"
	"hash/crc32"
	"slices"
	"strconv"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
)

const (
	accountID = apitest.AccountID
	nobody    = apitest.UnknownID
)

type obj = apitest.Object

var (
	start   = apitest.Start
	with    = apitest.With
	contact = apitest.Contact
	itoa    = strconv.Itoa
)

// same compares two lists of strings.
func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %q; want %q", what, got, want)
	}
}

// tokenEncoding is the encoding of tokens.
var tokenEncoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// tokenChecksum returns the checksum of a token's body.
func tokenChecksum(body string) string {
	sum := crc32.ChecksumIEEE([]byte(body))
	return tokenEncoding.EncodeToString(binary.BigEndian.AppendUint32(nil, sum))
}
