package tracing

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// Endpoint returns the URL that spans are sent to, or nothing where tracing is
// off. base, if it is not empty, is the collector's URL without a path of its
// own, as in OTEL_EXPORTER_OTLP_ENDPOINT, and goes before the environment.
//
// The environment is that of the OpenTelemetry specification: what else it sets,
// such as OTEL_TRACES_SAMPLER, OTEL_SERVICE_NAME and OTEL_EXPORTER_OTLP_HEADERS,
// is read by OpenTelemetry's own packages.
func Endpoint(base string, environ []string) (string, error) {
	if base != "" {
		return joined(base)
	}
	values := map[string]string{}
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		values[name] = strings.TrimSpace(value)
	}
	const own, all = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"
	if strings.EqualFold(values["OTEL_SDK_DISABLED"], "true") || values[own] == "" && values[all] == "" {
		return "", nil
	}
	switch exporter := values["OTEL_TRACES_EXPORTER"]; exporter {
	case "", "otlp":
	case "none":
		return "", nil
	default:
		return "", fmt.Errorf("OTEL_TRACES_EXPORTER: there is no exporter %q here; it takes otlp or none", exporter)
	}
	if values[own] != "" {
		return named(own, values[own], checked)
	}
	return named(all, values[all], joined)
}

func named(variable, value string, convert func(string) (string, error)) (string, error) {
	endpoint, err := convert(value)
	if err != nil {
		return "", fmt.Errorf("%s: %w", variable, err)
	}
	return endpoint, nil
}

// joined appends the path of traces to the URL of a collector.
func joined(base string) (string, error) {
	endpoint, err := checked(base)
	if err != nil {
		return "", err
	}
	return strings.TrimSuffix(endpoint, "/") + "/v1/traces", nil
}

func checked(endpoint string) (string, error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", errors.New("must be an http or https URL without credentials, for instance http://localhost:4318; credentials go into OTEL_EXPORTER_OTLP_HEADERS")
	}
	return endpoint, nil
}
