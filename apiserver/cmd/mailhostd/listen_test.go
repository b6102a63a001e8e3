package main

import "testing"

func TestLoopbackForPort(t *testing.T) {
	for address, want := range map[string]string{
		"8080": "127.0.0.1:8080", "0": "127.0.0.1:0", ":8080": ":8080", "0.0.0.0:80": "0.0.0.0:80", "[::1]:80": "[::1]:80", "99999": "99999", "host": "host",
	} {
		if got := loopbackForPort(address); got != want {
			t.Errorf("%q is %q, want %q", address, got, want)
		}
	}
}
