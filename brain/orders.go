package brain

import (
	"encoding/json"

	"hearth/vault"
)

// tightened applies the standing rules to a permission. They only ever take away; order is the memory that did, 0 = none.
func tightened(perm Permission, orders []vault.Order, tool string, args json.RawMessage) (_ Permission, order int64) {
	var a struct {
		Person string `json:"person"`
	}
	_ = json.Unmarshal(args, &a) // no person: only orders that speak of everybody bind
	for _, o := range orders {
		want := map[string]Permission{vault.OrderAsk: Ask, vault.OrderDeny: Deny, vault.OrderOff: Off}[o.Do]
		if !o.Binds(tool, a.Person) || stricter(perm, want) {
			continue
		}
		if perm != want || order == 0 {
			perm, order = want, o.Memory
		}
	}
	return perm, order
}

// switchedOff reports whether a standing rule takes a tool out of sight.
func switchedOff(orders []vault.Order, tool string) bool {
	for _, o := range orders {
		if o.Do == vault.OrderOff && o.Binds(tool, "") {
			return true
		}
	}
	return false
}
