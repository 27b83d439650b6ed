package skills

import (
	"context"
	"strings"
	"testing"

	"hearth/vault"
)

func TestMEM04AFactTakesThePlaceOfTheOneItCorrects(t *testing.T) {
	h := newHouse(t)
	h.do(h.call(h.ana), "remember", `{"fact":"Ana loves sushi"}`)
	c := h.call(h.ana)
	res := h.do(c, "remember", `{"fact":"Ana can not stand sushi","replaces":1}`)
	if again := h.do(c, "remember", `{"fact":"Ana can not stand sushi","replaces":1}`); again != res {
		t.Errorf("run again after a crash it says %q", again.Receipt)
	}
	if want := "Noted (memory 2): Ana can not stand sushi (instead of memory 1)"; res.Receipt != want {
		t.Errorf("receipt %q, expected %q", res.Receipt, want)
	}
	if got, want := h.do(h.call(h.ana), "recall", `{"query":"sushi"}`).Text, "#2 (since 10 Mar 2026): Ana can not stand sushi"; got != want {
		t.Errorf("recall gives %q, expected %q", got, want)
	}
	if said := h.refuse(h.call(h.ana), "remember", `{"fact":"Ana eats sushi","replaces":1}`); !strings.Contains(said, "no memory 1 whose place") {
		t.Errorf("what is history is replaced: %q", said)
	}
	for who, c := range map[string]Call{"Ben": h.call(h.ben), "a group": h.callIn(h.ana, vault.Group, "family")} {
		if said := h.refuse(c, "remember", `{"fact":"Ana eats anything","replaces":2}`); !strings.Contains(said, "no memory 2 whose place") {
			t.Errorf("%s is told %q", who, said)
		}
	}
	foreign := h.call(h.ana)
	foreign.Origin = "forwarded from Eve"
	h.refuse(foreign, "remember", `{"fact":"Ana eats anything","replaces":2}`)
	if said := h.do(h.call(h.ana), "forget", `{"id":2}`).Receipt; said != "Forgotten: memory 2. Memory 1, which it had replaced, holds again." {
		t.Errorf("forget says %q", said)
	}
}

func TestMEM08TheModelAloneBringsNothingBack(t *testing.T) {
	h := newHouse(t)
	h.do(h.call(h.ana), "remember", `{"fact":"the safe code is CANARY77"}`)
	h.do(h.call(h.ana), "forget", `{"id":1}`)
	if said := h.refuse(h.call(h.ana), "remember", `{"fact":"safe code: CANARY77"}`); !strings.Contains(said, "had this forgotten") || strings.Contains(said, "CANARY") {
		t.Errorf("the model is told %q", said)
	}
	if all, err := h.v.Memories(context.Background(), 0, 10); err != nil || len(all) != 0 {
		t.Errorf("%d memories, %v", len(all), err)
	}
}
