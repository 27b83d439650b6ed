package when

import (
	"bufio"
	"fmt"
	"os"
	"testing"
	"time"
)

func TestTry(t *testing.T) {
	f, err := os.Open(os.Getenv("TRY"))
	if err != nil {
		t.Skip()
	}
	now := time.Date(2026, 1, 12, 15, 5, 0, 0, zone(t, "Europe/Berlin"))
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		if sc.Text() == "" {
			continue
		}
		r, err := Parse(sc.Text(), now)
		if err != nil {
			fmt.Printf("%-45s ?? %v\n", sc.Text(), err)
			continue
		}
		fl := ""
		if r.DateOnly {
			fl += " D"
		}
		if r.Relative {
			fl += " R"
		}
		fmt.Printf("%-45s %s%s", sc.Text(), r.At.Format("Mon 2006-01-02 15:04:05"), fl)
		if r.Spec != "" {
			fmt.Printf(" | %s | %s", r.Spec, r.Words)
			at := r.At
			for range 2 {
				at, _, _ = Next(r.Spec, now.Location(), at)
				fmt.Printf(" > %s", at.Format("Mon 01-02 15:04"))
			}
		}
		if r.Note != "" {
			fmt.Printf(" # %s", r.Note)
		}
		fmt.Println()
	}
}
