// Package metrics provides the server's Prometheus metrics.
//
// Every label has a fixed set of values, none of which comes from a client.
package metrics

import (
	"context"
	"math"
	"net"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/felixge/httpsnoop"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/certificate"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// Metrics are the metrics of one server. It is safe for concurrent use.
type Metrics struct {
	registry    *prometheus.Registry
	auto        promauto.Factory // with the prefix of all names
	requests    *prometheus.CounterVec
	durations   *prometheus.HistogramVec
	sizes       *prometheus.HistogramVec
	aborted     *prometheus.CounterVec
	inFlight    prometheus.Gauge
	connections prometheus.Gauge
}

func New(version string) *Metrics {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m := &Metrics{registry: registry, auto: promauto.With(prometheus.WrapRegistererWithPrefix("mailhostd_", registry))}
	m.auto.NewGauge(prometheus.GaugeOpts{
		Name: "build_info", Help: "Always 1; the labels have the versions.",
		ConstLabels: prometheus.Labels{"version": version, "goversion": runtime.Version()},
	}).Set(1)
	m.requests = m.auto.NewCounterVec(prometheus.CounterOpts{
		Name: "http_requests_total",
		Help: "Requests by operation, method and status code; code 0 is a connection that was closed without a response.",
	}, []string{"operation", "method", "code"})
	m.durations = m.auto.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "http_request_duration_seconds",
		Help:    "Duration of requests, to the last byte of the response.",
		Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 60},
	}, []string{"operation", "method", "code"})
	m.sizes = m.auto.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "http_response_size_bytes",
		Help:    "Size of response bodies.",
		Buckets: prometheus.ExponentialBuckets(256, 8, 8), // to 512 MiB
	}, []string{"operation"})
	m.aborted = m.auto.NewCounterVec(prometheus.CounterOpts{
		Name: "http_requests_aborted_total", Help: "Requests whose connection was closed before the end of the response.",
	}, []string{"operation"})
	m.inFlight = m.auto.NewGauge(prometheus.GaugeOpts{Name: "http_requests_in_flight", Help: "Requests in flight."})
	m.connections = m.auto.NewGauge(prometheus.GaugeOpts{Name: "http_connections", Help: "Open connections of the public listener."})
	return m
}

// Watch adds metrics that are read on every scrape; see database. cert is nil without TLS. Call Watch at
// most once.
func (m *Metrics) Watch(service *apiserver.Service, db store.Store, cert *certificate.Reloader) {
	prometheus.WrapRegistererWithPrefix("mailhostd_", m.registry).MustRegister(&database{service, db})
	m.auto.NewCounterFunc(prometheus.CounterOpts{
		Name: "messages_given_up_total", Help: "Verification messages that this server could not send and has given up.",
	}, func() float64 { return float64(service.GivenUpMessages()) })
	if cert != nil {
		m.auto.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "tls_certificate_expiry_timestamp_seconds", Help: "Expiry of the TLS certificate in Unix time.",
		}, func() float64 { return float64(cert.Leaf().NotAfter.Unix()) })
	}
}

// WatchClock adds by how much this machine's clock is behind, which offset returns without a query.
func (m *Metrics) WatchClock(offset func() time.Duration) {
	m.auto.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "clock_offset_seconds", Help: "How far this machine's clock is behind the database server's (negative: ahead), or behind the newest change if that is more, as of the last check each minute.",
	}, func() float64 { return offset().Seconds() })
}

// scrapeTimeout limits a scrape, and databaseTimeout its part that asks the database: during an outage the
// other metrics are served all the same.
const (
	scrapeTimeout   = 10 * time.Second
	databaseTimeout = 2 * time.Second
)

// database collects the metrics that ask the database, at the same time. A failed read is NaN.
type database struct {
	service *apiserver.Service
	store   store.Store
}

// The metrics of database.
var (
	ready          = prometheus.NewDesc("ready", "1 if the server accepts requests and its database is available, as /healthz/ready.", nil, nil)
	queued         = prometheus.NewDesc("messages_queued", "Verification messages that wait to be sent, by any server on the database.", nil, nil)
	size           = prometheus.NewDesc("database_size_bytes", "Size of the database.", nil, nil)
	connections    = prometheus.NewDesc("database_connections", "Connections to the database server in use; 0 for an SQLite file.", nil, nil)
	maxConnections = prometheus.NewDesc("database_connections_max", "Maximum number of connections to the database server; 0 for an SQLite file.", nil, nil)
)

// Describe implements prometheus.Collector.
func (d *database) Describe(descs chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{ready, queued, size, connections, maxConnections} {
		descs <- desc
	}
}

// Collect implements prometheus.Collector.
func (d *database) Collect(collected chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), databaseTimeout)
	defer cancel()
	gauge := func(desc *prometheus.Desc, value float64, err error) {
		if err != nil {
			value = math.NaN()
		}
		collected <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value)
	}
	var reads sync.WaitGroup
	reads.Go(func() { gauge(ready, map[bool]float64{true: 1}[d.service.Ready(ctx) == nil], nil) })
	reads.Go(func() {
		n, err := d.service.QueuedMessages(ctx)
		gauge(queued, float64(n), err)
	})
	reads.Go(func() {
		u, err := d.store.Usage(ctx)
		gauge(size, float64(u.Bytes), err)
		gauge(connections, float64(u.Connections), nil) // known without the database
		gauge(maxConnections, float64(u.MaxConnections), nil)
	})
	reads.Wait()
}

func (m *Metrics) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		Registry: m.registry, Timeout: scrapeTimeout, MaxRequestsInFlight: 4, EnableOpenMetrics: true,
	}))
	return mux
}

// ConnState counts connections. It is for http.Server.ConnState.
func (m *Metrics) ConnState(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		m.connections.Inc()
	case http.StateClosed, http.StateHijacked:
		m.connections.Dec()
	}
}

// Middleware records requests, also if the handler panics, for instance to close the connection. It is
// for apiserver.Options.Middleware.
func (m *Metrics) Middleware(next http.Handler) http.Handler {
	return promhttp.InstrumentHandlerInFlight(m.inFlight, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		operation := apiserver.RequestOf(r.Context()).Name()
		var response httpsnoop.Metrics // the instruments of promhttp miss handlers that panic
		start := time.Now()
		completed := false
		defer func() {
			if !completed {
				m.aborted.WithLabelValues(operation).Inc()
			}
			if response.Code == 0 && (completed || response.Written > 0) { // net/http's default
				response.Code = http.StatusOK
			}
			labels := []string{operation, methodLabel(r.Method), strconv.Itoa(response.Code)}
			m.requests.WithLabelValues(labels...).Inc()
			m.durations.WithLabelValues(labels...).Observe(time.Since(start).Seconds())
			m.sizes.WithLabelValues(operation).Observe(float64(response.Written))
		}()
		response.CaptureMetrics(w, func(w http.ResponseWriter) { next.ServeHTTP(w, r) })
		completed = true
	}))
}

// methodLabel limits the values of the label, like promhttp.
func methodLabel(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return strings.ToLower(method)
	}
	return "unknown"
}
