package main

import (
	"context"

	"hearth/config"
	"hearth/vault"
)

// load reads the configuration, and from then on masks its secrets in what the command says about errors.
func (in *invocation) load() (*config.Config, error) {
	cfg, err := config.Load(in.flags["config"], in.env, config.Options{})
	if err != nil {
		return nil, err
	}
	in.redact = config.NewRedactor(cfg).Redact
	in.offer = func(e *vault.DamagedError) string {
		return damagedSentence(e, offer(context.Background(), cfg, in.env, e))
	}
	return cfg, nil
}

// people are those of the configuration, as the vault knows them.
func people(cfg *config.Config) []vault.Person {
	var out []vault.Person
	for _, p := range cfg.People {
		known := vault.Person{Name: p.Name, Role: vault.Role(p.Role), Zone: p.Timezone}
		for _, ext := range p.Telegram {
			known.Identities = append(known.Identities, vault.Identity{Gateway: "telegram", Ext: ext})
		}
		for _, ext := range p.WhatsApp {
			known.Identities = append(known.Identities, vault.Identity{Gateway: "whatsapp", Ext: ext})
		}
		out = append(out, known)
	}
	return out
}

// gatewayNames are the messengers of this program that the configuration switches on.
func gatewayNames(cfg *config.Config) []string {
	names := []string{"terminal"}
	if !cfg.Gateways.Telegram.Token.IsZero() {
		names = append(names, "telegram")
	}
	if whatsappMode(cfg) != "off" {
		names = append(names, "whatsapp")
	}
	return names
}
