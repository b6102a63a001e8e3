package provider

import (
	"bytes"
	"errors"
	"testing"

	"github.com/hashicorp/terraform-plugin-log/tflogtest"
)

// TestAttemptsInTheLog checks that who waits for an API that can't be reached can find out.
func TestAttemptsInTheLog(t *testing.T) {
	var out bytes.Buffer
	ctx := tflogtest.RootLogger(t.Context(), &out)
	logAttempt(ctx, "API request", map[string]any{"status": 200})
	logAttempt(ctx, "API request", map[string]any{"error": errors.New("connection refused").Error()})
	lines, err := tflogtest.MultilineJSONDecode(&out)
	if err != nil || len(lines) != 2 || lines[0]["@level"] != "debug" || lines[1]["@level"] != "warn" || lines[1]["error"] != "connection refused" {
		t.Errorf("logged %v, error %v", lines, err)
	}
}
