package apiserver_test

import (
	"fmt"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
)

// The benchmarks send requests to a server in process, on SQLite in memory, and include the check of each
// response. make bench compares servers.

func BenchmarkCreateMailbox(b *testing.B) {
	s := apitest.New(b)
	s.Domain("example.com")
	n := 0
	for b.Loop() {
		s.CreateMailbox("example.com", fmt.Sprintf("box-%d", n)).Want(201)
		n++
	}
}

func BenchmarkGetMailbox(b *testing.B) {
	s := apitest.New(b)
	s.Domain("example.com")
	s.CreateMailbox("example.com", "ada").Want(201)
	for b.Loop() {
		s.Get("/mailboxes/ada@example.com").Want(200)
	}
}
