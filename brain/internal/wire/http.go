package wire

import (
	"encoding/json"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// DialTime bounds the way to a server.
const DialTime = 5 * time.Second

// NewHTTP makes a client without a limit for the whole answer: a small machine may write for many minutes.
func NewHTTP() *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			Proxy:               http.ProxyFromEnvironment, // never used for this machine itself
			DialContext:         (&net.Dialer{Timeout: DialTime, KeepAlive: 30 * time.Second}).DialContext,
			TLSHandshakeTimeout: DialTime,
			MaxIdleConnsPerHost: 4,
			IdleConnTimeout:     90 * time.Second,
			DisableCompression:  true, // a compressed stream comes in lumps
			ForceAttemptHTTP2:   true, // a dialer of one's own switches it off
			HTTP2:               &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second},
		},
		// A POST that follows a redirect arrives as a GET without a body, and the error that comes of it names nothing.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// ErrorDocument finds the message in an error document, and shortens what is none, such as a proxy's page.
func ErrorDocument(body []byte) string {
	var doc struct {
		Error json.RawMessage `json:"error"`
	}
	text := ""
	if json.Unmarshal(body, &doc) == nil {
		text = ErrorText(doc.Error)
	}
	if text == "" {
		text = strings.Join(strings.Fields(string(body)), " ")
	}
	if len(text) > 2000 {
		text = strings.ToValidUTF8(text[:2000], "")
	}
	return text
}

// ErrorText reads the two forms in which a server names an error: a text, or an object with a message.
func ErrorText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var object struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(raw, &object) == nil && object.Message != "" {
		return object.Message
	}
	return string(raw)
}

// RetryAfter reads how long a server asks to wait: seconds or an instant. 0 = it does not say.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	text := strings.TrimSpace(h.Get("Retry-After"))
	if seconds, err := strconv.ParseFloat(text, 64); err == nil {
		if seconds > 0 && seconds < 1e6 {
			return time.Duration(seconds * float64(time.Second))
		}
		return 0
	}
	until, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	if there, err := http.ParseTime(h.Get("Date")); err == nil {
		now = there // its clock is the one that it counts by
	}
	return max(0, until.Sub(now))
}
