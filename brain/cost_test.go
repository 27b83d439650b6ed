package brain

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"testing"
	"time"
)

// The sum of what the vault has booked is the bill, to the billionth of a dollar, however odd the prices.
func TestTheSumOfAllCostsIsTheBill(t *testing.T) {
	for _, price := range []Price{{Input: 0.25, Output: 2}, {Input: 3, Output: 15}, {Input: 0.0375, Output: 0.15}, {Input: 1.0 / 3, Output: 7}} {
		inBubble(t, func(w *world) {
			bill := new(big.Rat)
			n := 0
			in, out := new(big.Rat).SetFloat64(price.Input), new(big.Rat).SetFloat64(price.Output)
			w.use(script(func(_ context.Context, req Request) (Response, error) {
				n++
				r := say(fmt.Sprint("answer ", n))
				if replied(req) == 0 {
					r = want("look", `{"text":"x"}`)
				}
				r.In, r.Out = 1000+n*37, n*13%997
				for tokens, per := range map[int]*big.Rat{r.In: in, r.Out: out} {
					bill.Add(bill, new(big.Rat).Mul(per, big.NewRat(int64(tokens), 1_000_000)))
				}
				return r, nil
			}))
			home := w.settings.Backends["home"]
			home.Price = &price
			w.settings.Backends["home"] = home
			w.start()
			var runs float64
			for i := range 100 {
				runs += w.progress(w.say(fmt.Sprint("message ", i))).Run.USD
			}
			spent, err := w.vault.Spent(w.t.Context(), time.Time{})
			w.must(err)
			due, _ := bill.Float64()
			for what, got := range map[string]float64{"by steps": spent, "by runs": runs} {
				if math.Abs(got-due) > 1e-9 || n != 200 {
					t.Errorf("%v: %s it is $%.12f, the bill is $%.12f for %d calls", price, what, got, due, n)
				}
			}
		})
	}
}
