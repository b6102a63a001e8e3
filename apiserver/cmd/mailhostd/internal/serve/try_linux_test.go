package serve_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
)

// countVariable makes TestCountSignals the command of mailhostd try.
const countVariable = "TEST_COUNT_SIGNALS"

// TestCountSignals prints the signals that it receives until a second after the first one.
func TestCountSignals(t *testing.T) {
	if os.Getenv(countVariable) == "" {
		t.Skip("this is a command of TestTrySignals")
	}
	received := make(chan os.Signal, 8)
	signal.Notify(received, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	fmt.Println("ready")
	seen := []string{}
	for limit := time.After(time.Minute); ; {
		select {
		case s := <-received:
			if seen = append(seen, s.String()); len(seen) == 1 {
				limit = time.After(time.Second)
			}
		case <-limit:
			fmt.Println("seen:", strings.Join(seen, ", "))
			return
		}
	}
}

// TestTrySignals checks that a signal to mailhostd try, to its process group, or from a key reaches the command once, and
// a signal to the group also the program that a script runs.
func TestTrySignals(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	assert.NilError(t, err)
	direct := []string{"env", mailhostdtest.AsProgram + "=", countVariable + "=1", self, "-test.run=^TestCountSignals$"}
	script := append([]string{"sh", "-c", `"$@"; true`, "sh"}, direct...)
	for _, to := range []string{"process", "group", "both", "script"} {
		for want, s := range map[string]syscall.Signal{"interrupt": syscall.SIGINT, "terminated": syscall.SIGTERM, "hangup": syscall.SIGHUP} {
			for _, terminal := range []bool{false, true} {
				if to == "script" && terminal && s != syscall.SIGINT {
					continue // the script ends, then the session, and the kernel sends a hangup
				}
				command, send := direct, func(pid int, _ *os.File) error { return syscall.Kill(-pid, s) }
				switch to {
				case "process":
					send = func(pid int, _ *os.File) error { return syscall.Kill(pid, s) }
				case "both":
					send = func(pid int, _ *os.File) error { return errors.Join(syscall.Kill(pid, s), syscall.Kill(-pid, s)) }
				case "script":
					command = script
				}
				t.Run(fmt.Sprintf("%s/%s/terminal %t", to, want, terminal), func(t *testing.T) {
					t.Parallel()
					tryWithSignal(t, self, command, terminal, send, want)
				})
			}
		}
	}
	for name, command := range map[string][]string{"direct": direct, "script": script} {
		t.Run("^C/"+name, func(t *testing.T) {
			t.Parallel()
			tryWithSignal(t, self, command, true, func(_ int, person *os.File) error { _, err := person.WriteString("\x03"); return err }, "interrupt")
		})
	}
}

// tryWithSignal runs a command with mailhostd try, and sends a signal to it, which the command has to print.
func tryWithSignal(t *testing.T, self string, command []string, terminal bool, send func(pid int, person *os.File) error, want string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), self, append([]string{"try", "--"}, command...)...)
	c.Env = append(os.Environ(), mailhostdtest.AsProgram+"=1")
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, w, err := os.Pipe()
	assert.NilError(t, err)
	defer out.Close()
	c.Stdout, c.Stderr = w, w
	var person *os.File
	if terminal {
		var program *os.File
		person, program = mailhostdtest.OpenTerminal(t)
		c.Stdin = program
		c.SysProcAttr.Setctty = true
	}
	assert.NilError(t, errors.Join(c.Start(), w.Close()))
	defer c.Wait() //nolint:errcheck // a killed script fails
	assert.NilError(t, out.SetReadDeadline(time.Now().Add(time.Minute)))
	lines := bufio.NewReader(out)
	line, err := lines.ReadString('\n')
	assert.NilError(t, err)
	assert.Assert(t, line == "ready\n", "the command printed %q", line)
	assert.NilError(t, send(c.Process.Pid, person))
	line, err = lines.ReadString('\n') // until then the program may run on without its script
	assert.Check(t, line == "seen: "+want+"\n", "the command printed %q, %v", line, err)
	_, err = io.Copy(io.Discard, lines)
	assert.Check(t, err)
}

// TestTryTerminal checks that the command reads from the terminal, and a script after mailhostd try too.
func TestTryTerminal(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	assert.NilError(t, err)
	person, program := mailhostdtest.OpenTerminal(t)
	c := exec.CommandContext(t.Context(), "sh", "-c", `"$0" try -- sh -c 'read a; echo command $a'; read b; echo after $b`, self)
	c.Env = append(os.Environ(), mailhostdtest.AsProgram+"=1")
	c.Stdin = program
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	_, err = person.WriteString("one\ntwo\n")
	assert.NilError(t, err)
	text, err := c.CombinedOutput()
	assert.Check(t, err == nil && string(text) == "command one\nafter two\n", "%q, %v", text, err)
}
