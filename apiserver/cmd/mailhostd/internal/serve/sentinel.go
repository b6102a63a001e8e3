package serve

import (
	"context"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// sentinel is a process that does nothing, in the process group of this program. A signal to the group, such as ^C on a
// terminal or the end of a CI job, ends it. Nothing else distinguishes such a signal, which the command of mailhostd try
// receives too, from a signal to this program alone.
type sentinel struct {
	command *exec.Cmd
	ended   chan struct{}
}

// sentinelDelay is how long the end of the sentinel may take after a signal, on a busy machine too.
const sentinelDelay = time.Second / 2

// startSentinel returns nil on a system without cat. The sentinel ends with ctx, and with this program.
func startSentinel(ctx context.Context) *sentinel {
	s := &sentinel{command: exec.CommandContext(ctx, "cat"), ended: make(chan struct{})}
	_, err := s.command.StdinPipe() // nobody writes to it, and cat ends when it is closed
	if err != nil || s.command.Start() != nil {
		return nil
	}
	go func() {
		_ = s.command.Wait() // a signal is an error
		close(s.ended)
	}()
	return s
}

// receives waits, and reports whether the sentinel has received a signal.
func (s *sentinel) receives(signal os.Signal) bool {
	if s == nil {
		return false
	}
	select {
	case <-s.ended:
		status, ok := s.command.ProcessState.Sys().(syscall.WaitStatus)
		return ok && status.Signaled() && status.Signal() == signal
	case <-time.After(sentinelDelay):
		return false
	}
}
