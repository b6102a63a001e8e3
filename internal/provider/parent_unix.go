//go:build !windows

package provider

import (
	"context"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// parentArguments returns the arguments of the parent process: from /proc, or from ps,
// which separates them by spaces only.
func parentArguments() ([]string, error) {
	parent := strconv.Itoa(os.Getppid())
	if text, err := os.ReadFile("/proc/" + parent + "/cmdline"); err == nil {
		return strings.Split(string(text), "\x00"), nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	text, err := exec.CommandContext(ctx, "ps", "-o", "args=", "-p", parent).Output()
	return strings.Fields(string(text)), err
}
