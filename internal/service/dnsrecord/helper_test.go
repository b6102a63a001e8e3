package dnsrecord_test

import (
	"strconv"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// number parses an optional number.
func number(s string) *int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return nil
	}
	return &n
}

// records returns the account's records of a type.
func records(t *testing.T, s *acctest.Server, recordType string) []api.DNSRecord {
	t.Helper()
	var all []api.DNSRecord
	for r, err := range s.Client.ListDNSRecords(t.Context(), api.ListDNSRecordsRequest{Type: recordType}) {
		must(t, err)
		all = append(all, r)
	}
	return all
}
