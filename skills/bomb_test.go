package skills

import (
	"strings"
	"testing"
	"time"
)

// A description that would unfold to gigabytes is refused, or cut, at once.
func TestSkillThatUnfoldsIsBounded(t *testing.T) {
	var front strings.Builder
	front.WriteString("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n")
	for i := range 9 {
		n, m := string(rune('1'+i)), string(rune('0'+i))
		front.WriteString("a" + n + ": &a" + n + " [" + strings.Repeat("*a"+m+",", 9) + "*a" + m + "]\n")
	}
	began := time.Now()
	for _, fields := range []string{"name: bomb\ndescription: *a9\n", "name: bomb\ndescription: x\nmetadata: *a9\n"} {
		k, err := parseSkill("bomb", []byte("---\n"+front.String()+fields+"---\nDo it."))
		if err == nil && k.about != "x" {
			t.Errorf("it is read as %.100q", k.about)
		}
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %s", took)
	}
}
