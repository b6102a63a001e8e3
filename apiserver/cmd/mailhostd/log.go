package main

import (
	"io"
	"log/slog"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/tracing"
)

// logFlags say how the log is written.
type logFlags struct {
	LogFormat string     `enum:"text,json" default:"text" placeholder:"FORMAT" help:"Format of the log: ${enum}. Default: ${default}."`
	LogLevel  slog.Level `default:"info" placeholder:"LEVEL" help:"What the log tells: debug, info, warn or error. Default: ${default}."`
}

func (f logFlags) logger(w io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: f.LogLevel}
	if f.LogFormat == "json" {
		return slog.New(tracing.LogHandler(slog.NewJSONHandler(w, options)))
	}
	return slog.New(tracing.LogHandler(slog.NewTextHandler(w, options)))
}
