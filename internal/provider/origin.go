package provider

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/mailhost/terraform-provider-mailhost/internal/client"
)

// newOrigin returns the origin of the process, which identifies the state that the CLI in
// the working directory has: by its backend and workspace and, if that keeps the state in
// local files, by the machine and the directory. Two that only seem to be the same would
// continue with each other's creates, and so a container with another name is another
// origin.
func newOrigin(getenv func(string) string) (client.Origin, error) {
	data := cmp.Or(getenv("TF_DATA_DIR"), ".terraform")
	workspace := getenv("TF_WORKSPACE")
	if workspace == "" {
		selected, err := os.ReadFile(filepath.Join(data, "environment"))
		if err != nil && !os.IsNotExist(err) {
			return client.Origin{}, err
		}
		workspace = cmp.Or(string(bytes.TrimSpace(selected)), "default")
	}
	var settings struct {
		Backend struct {
			Type   string          `json:"type"`
			Config json.RawMessage `json:"config"`
		} `json:"backend"`
	}
	text, err := os.ReadFile(filepath.Join(data, "terraform.tfstate"))
	if err == nil {
		err = json.Unmarshal(text, &settings)
	} else if os.IsNotExist(err) {
		err = nil
	}
	if err != nil {
		return client.Origin{}, err
	}
	parts := []string{workspace, settings.Backend.Type, string(settings.Backend.Config)}
	if settings.Backend.Type == "" || settings.Backend.Type == "local" {
		host, err := os.Hostname()
		if err != nil {
			return client.Origin{}, err
		}
		dir, err := os.Getwd()
		if err != nil {
			return client.Origin{}, err
		}
		parts = append(parts, host, dir)
	}
	hash := sha256.New()
	for _, part := range parts {
		fmt.Fprintf(hash, "%d:%s", len(part), part)
	}
	return client.Origin{ID: hex.EncodeToString(hash.Sum(nil)), Run: uuid.NewString()}, nil
}

// isPartial reports whether the CLI's command may leave out a part of the state. The
// protocol has nothing about it, so that the provider reads the arguments of its parent,
// which is the CLI.
func isPartial(environ []string) bool {
	arguments, err := parentArguments()
	return err != nil || isPartialCommand(arguments, environ)
}

func isPartialCommand(arguments, environ []string) bool {
	for _, variable := range environ {
		if name, value, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "TF_CLI_ARGS") {
			arguments = append(slices.Clip(arguments), strings.Fields(value)...)
		}
	}
	return slices.ContainsFunc(arguments, func(a string) bool {
		flag := strings.TrimLeft(a, `'"`)
		return strings.HasPrefix(flag, "-") && slices.ContainsFunc([]string{"target", "exclude"}, func(name string) bool {
			return strings.HasPrefix(strings.TrimLeft(flag, "-"), name)
		})
	})
}
