package commands_test

import (
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
)

func TestMain(m *testing.M) { mailhostdtest.Main(m) }
