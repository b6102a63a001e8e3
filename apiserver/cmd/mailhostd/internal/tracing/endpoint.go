package tracing

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// excerpt shortens an error, which may contain a collector's whole response.
func excerpt(err error) string { return fmt.Sprintf("%.300s", err) }

// Endpoint returns the URL for spans, or "" if tracing is off. base is the collector's
// URL without a path, as in OTEL_EXPORTER_OTLP_ENDPOINT. If it is empty, the endpoint
// comes from the environment as the OpenTelemetry specification defines it.
//
// OpenTelemetry's own packages read the other variables, such as OTEL_TRACES_SAMPLER,
// OTEL_SERVICE_NAME and OTEL_EXPORTER_OTLP_HEADERS.
func Endpoint(base string, environ []string) (string, error) {
	if base != "" {
		return tracesURL(base)
	}
	values := map[string]string{}
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		values[name] = strings.TrimSpace(value)
	}
	const traces, all = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"
	if strings.EqualFold(values["OTEL_SDK_DISABLED"], "true") || values[traces] == "" && values[all] == "" {
		return "", nil
	}
	switch exporter := values["OTEL_TRACES_EXPORTER"]; exporter {
	case "", "otlp":
	case "none":
		return "", nil
	default:
		return "", fmt.Errorf("OTEL_TRACES_EXPORTER: unknown exporter %q; use otlp or none", exporter)
	}
	variable, parse := all, tracesURL
	if values[traces] != "" {
		variable, parse = traces, checkURL
	}
	endpoint, err := parse(values[variable])
	if err != nil {
		return "", fmt.Errorf("%s: %w", variable, err)
	}
	return endpoint, nil
}

// tracesURL appends the path for traces to the URL of a collector.
func tracesURL(base string) (string, error) {
	endpoint, err := checkURL(base)
	if err != nil {
		return "", err
	}
	return strings.TrimSuffix(endpoint, "/") + "/v1/traces", nil
}

func checkURL(endpoint string) (string, error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", errors.New("must be an http or https URL without credentials, for instance http://localhost:4318; set credentials in OTEL_EXPORTER_OTLP_HEADERS")
	}
	return endpoint, nil
}
