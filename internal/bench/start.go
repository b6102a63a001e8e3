package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// compareStart measures how long the provider takes from the start of its process until
// it has read an existing embedded account.
func (b *bench) compareStart(ctx context.Context) error {
	dir, err := os.MkdirTemp(b.scratch, "start-")
	if err != nil {
		return err
	}
	accountID, err := populateFile(ctx, filepath.Join(dir, "mailhost.db"))
	if err != nil {
		return err
	}
	program, err := filepath.Glob(filepath.Join(b.mirror(), "registry.terraform.io", "mailhost", "mailhost", version, "*", "*"))
	if err != nil || len(program) != 1 {
		return fmt.Errorf("the provider is not in the mirror: %v, %w", program, err)
	}
	const repeats = 15
	for range 2 { // reads the program into the system's cache
		if _, err := startProvider(ctx, program[0], dir, accountID); err != nil {
			return err
		}
	}
	a, c, err := alternate(repeats, func() ([]float64, error) {
		took, err := startProvider(ctx, program[0], dir, accountID)
		return []float64{took}, err
	}, constant(20*time.Millisecond))
	if err != nil {
		return err
	}
	b.rows = append(b.rows, row{
		measure: "start of the provider, until it has read an existing embedded account", unit: seconds, target: atMost(1),
		ours: a[0], against: c[0], versus: "the target",
	})
	return nil
}

// startProvider starts the provider as a CLI does, configures it for a data directory,
// reads the account, and returns how many seconds that took.
func startProvider(ctx context.Context, program, dataDir, accountID string) (took float64, err error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	begun := time.Now()
	cmd := exec.CommandContext(ctx, program)
	cmd.Env = append(os.Environ(), "TF_PLUGIN_MAGIC_COOKIE=d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2", "PLUGIN_PROTOCOL_VERSIONS=6")
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	defer func() {
		cancel()
		_ = cmd.Wait()
	}()
	handshake, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return 0, err
	}
	// Such as 1|6|unix|/tmp/plugin123|grpc|
	fields := strings.Split(handshake, "|")
	if len(fields) < 5 || fields[4] != "grpc" {
		return 0, fmt.Errorf("unexpected handshake of the provider: %q", handshake)
	}
	p := newPlugin(fields[2], fields[3])
	if err := p.call(ctx, "ConfigureProvider", "1.11.0", fmt.Sprintf(`{"embedded":{"data_dir":%q}}`, dataDir), ""); err != nil {
		return 0, err
	}
	if err := p.call(ctx, "ReadDataSource", "mailhost_account", "{}", accountID); err != nil {
		return 0, err
	}
	return time.Since(begun).Seconds(), nil
}

// plugin calls a provider process over gRPC, by hand: two calls with two strings each
// need no client for it.
type plugin struct{ http.Client }

func newPlugin(network, address string) *plugin {
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	return &plugin{http.Client{Transport: &http.Transport{
		Protocols: &protocols,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, address)
		},
	}}}
}

// call calls a method of the provider protocol whose request has a string as field 1 and
// a value as field 2. The response has to contain the text want.
func (p *plugin) call(ctx context.Context, method, text, value, want string) error {
	var dynamic, message []byte
	dynamic = protowire.AppendTag(dynamic, 2, protowire.BytesType) // as JSON
	dynamic = protowire.AppendString(dynamic, value)
	message = protowire.AppendTag(message, 1, protowire.BytesType)
	message = protowire.AppendString(message, text)
	message = protowire.AppendTag(message, 2, protowire.BytesType)
	message = protowire.AppendBytes(message, dynamic)

	frame := binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message)))
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://provider/tfplugin6.Provider/"+method, bytes.NewReader(append(frame, message...)))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/grpc")
	req.Header.Set("Te", "trailers")
	resp, err := p.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if status := resp.Trailer.Get("Grpc-Status"); status != "0" {
		return fmt.Errorf("%s: gRPC status %s: %s", method, status, resp.Trailer.Get("Grpc-Message"))
	}
	if !bytes.Contains(body, []byte(want)) {
		return fmt.Errorf("%s: the response is %q, and does not contain %q", method, body, want)
	}
	return nil
}
