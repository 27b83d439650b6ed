package brain

import "hearth/vault"

// Price is in US dollars per million tokens. A backend without one has an unknown price, which is not zero.
type Price struct {
	Input, Output float64
	// What is read from the provider's cache of prompts, and written to it, instead of Input.
	CacheRead, CacheWrite float64
}

// worst is the most that so many tokens can cost, whatever comes from a cache; nil = not known.
func (p *Price) worst(in, out int) (usd float64, known bool) {
	if p == nil {
		return 0, false
	}
	return (float64(in)*max(p.Input, p.CacheRead, p.CacheWrite) + float64(out)*p.Output) / 1e6, true
}

// Cost of a reply; known is false when the price is not known.
func (b Backend) Cost(r Response) (usd float64, known bool) {
	if b.Price == nil {
		return 0, false
	}
	plain := max(0, r.In-r.CacheRead-r.CacheWrote)
	return (float64(plain)*b.Price.Input + float64(r.CacheRead)*b.Price.CacheRead + float64(r.CacheWrote)*b.Price.CacheWrite + float64(r.Out)*b.Price.Output) / 1e6, true
}

func (r Response) usage() vault.Usage {
	return vault.Usage{In: r.In, Out: r.Out, CacheRead: r.CacheRead, CacheWrote: r.CacheWrote}
}
