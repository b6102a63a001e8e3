package call_test

import (
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
)

// TestTranscript checks what people read, and what the commands refuse.
func TestTranscript(t *testing.T) { mailhostdtest.Transcript(t, "testdata/call.txt") }
