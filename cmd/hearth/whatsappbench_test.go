package main

import (
	"fmt"
	"testing"
	"time"

	"hearth/gateways/telegram/tgfake"
)

// BenchmarkBothMessengers is the resident memory of a daemon that is connected to Telegram and WhatsApp and has nothing to
// do, and how long WhatsApp takes to be there again after its line was cut.
func BenchmarkBothMessengers(b *testing.B) {
	telegram := tgfake.New(b)
	a := newAbroad(b, fmt.Sprintf(", telegram: {token: %q, api_url: %q}", telegram.Token(), telegram.URL()))
	a.linkByCode()
	p := a.abroadDaemon()
	eventually(b, "Telegram is connected", func() bool {
		for _, g := range ask(a.home, viewStatus, query{}).Gateways {
			if g.Name == "telegram" && g.Error == "" {
				return true
			}
		}
		return false
	})
	// The first seconds after a connection are work: keys are renewed, and what was missed is fetched.
	<-time.NewTimer(10 * time.Second).C
	resident := residentMB(b, p.cmd.Process.Pid)
	a.ana.write(a, "remember that the gate code is blue")
	a.ana.gets("Noted")
	<-time.NewTimer(10 * time.Second).C
	after := residentMB(b, p.cmd.Process.Pid)
	device := a.me.PN
	device.Device = 1
	var first time.Duration // the pause grows with each cut in a row
	for b.Loop() {
		before := a.server.Payload(device)
		a.server.Cut(device)
		began := time.Now()
		eventually(b, "it is back", func() bool { return a.server.Online(device) && a.server.Payload(device) != before })
		if first == 0 {
			first = time.Since(began)
		}
		a.online()
	}
	b.ReportMetric(resident, "MB-idle")
	b.ReportMetric(after, "MB-after-a-message")
	b.ReportMetric(float64(first.Milliseconds()), "ms-to-reconnect")
	b.ReportMetric(0, "ns/op")
}
