package brain

import "testing"

func TestWhatIsAtHome(t *testing.T) {
	for host, want := range map[string]bool{
		"127.0.0.1": true, "127.9.9.9": true, "::1": true, "[::1]": true, "localhost": true, "LOCALHOST.": true, "10.0.0.7": true, "192.168.178.20": true, "172.16.0.1": true,
		"fd00::1": true, "fe80::1": true, "169.254.1.1": true, "100.100.1.1": true, "::ffff:192.168.1.1": true, "nas": true, "nas.local": true, "box.home.arpa": true, "llm.lan": true, "a.fritz.box": true,
		"8.8.8.8": false, "172.32.0.1": false, "100.128.0.1": false, "2001:db8::1": false, "::ffff:8.8.8.8": false, "api.openai.com": false, "local.example": false, "example.com": false,
		"127.0.0.1.example.com": false, "": false, "0.0.0.0": false, "0x7f.1": false,
	} {
		if got := LocalHost(host); got != want {
			t.Errorf("%q at home: %v", host, got)
		}
	}
}
