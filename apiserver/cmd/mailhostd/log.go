package main

import (
	"io"
	"log/slog"
)

// logFlags say how the log is written.
type logFlags struct {
	LogFormat string     `enum:"text,json" default:"text" placeholder:"FORMAT" help:"Format of the log: ${enum}. Default: ${default}."`
	LogLevel  slog.Level `default:"info" placeholder:"LEVEL" help:"What the log tells: debug, info, warn or error. Default: ${default}."`
}

func (f logFlags) logger(w io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: f.LogLevel}
	if f.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}
