package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// check looks at what only makes sense together, and reports it where it was set. What has been complained about already
// is left alone.
func (c *Config) check(r *reader) {
	c.checkPeople(r)
	c.checkModels(r)
	c.checkChoice(r)
	c.checkExceptions(r)
	c.checkFolders(r)
	for path, dir := range map[string]string{"vault.dir": c.Vault.Dir, "skills.dir": c.Skills.Dir, "skills.workspace": c.Skills.Workspace} {
		if dir == "" {
			r.mind(path, "has no default, since neither HOME nor XDG_DATA_HOME is set; set one of them, or write the folder in full", "")
		}
	}
}

// mind reports a problem at the place that set the path, unless that has one already.
func (r *reader) mind(path, text, suggest string) {
	if !r.isBad(path) {
		r.complain(r.origin(path), path, text, suggest)
	}
}

func (c *Config) checkPeople(r *reader) {
	names, ids := map[string]string{}, map[string]string{}
	for i, p := range c.People {
		at := fmt.Sprintf("people[%d]", i)
		switch earlier := names[strings.ToLower(p.Name)]; {
		case p.Name == "":
			r.mind(at+".name", "is missing: every person needs one", "")
			continue
		case earlier != "":
			r.mind(at+".name", fmt.Sprintf("two people are called %s; tell them apart", earlier), "")
		}
		names[strings.ToLower(p.Name)] = p.Name
		for messenger, own := range map[string][]string{"telegram": p.Telegram, "whatsapp": p.WhatsApp} {
			for _, id := range own {
				if other := ids[messenger+id]; other != "" && other != p.Name {
					r.mind(at+"."+messenger, fmt.Sprintf("%s belongs to %s already; an id can be one person's only", id, other), "")
				}
				ids[messenger+id] = p.Name
			}
		}
	}
}

func (c *Config) checkModels(r *reader) {
	for _, name := range slices.Sorted(maps.Keys(c.Brain.Models)) {
		m, at := c.Brain.Models[name], "brain.models."+name
		switch {
		case m.Provider == "":
			r.mind(at+".provider", "is missing; it takes ollama, openai, anthropic or offline", "")
			continue
		case name == Offline && m.Provider != Offline:
			r.mind(at, "is the name of the built-in model; give this one another", "")
		case m.Provider == Offline:
			continue
		}
		if m.Model == "" {
			r.mind(at+".model", "is missing; write the name the server knows the model by, such as \"qwen3:4b\"", "")
		}
		if m.MaxTokens >= m.Context {
			r.mind(at+".max_tokens", fmt.Sprintf("is %d, which leaves nothing of the %d tokens of context for the question", m.MaxTokens, m.Context), "")
		}
		checkKey(r, at, m.Provider, m.URL, m.APIKey)
		if m.Price != nil {
			for _, half := range []string{"input", "output"} {
				if _, set := r.origins[at+".price."+half]; !set {
					r.mind(at+".price."+half, "is missing; a price needs input and output, in US dollars per million tokens", "")
				}
			}
		}
	}
	if e := c.Brain.Embedding; e != nil {
		if e.Provider == "" {
			r.mind("brain.embedding.provider", "is missing; it takes ollama or openai", "")
		}
		if e.Model == "" {
			r.mind("brain.embedding.model", "is missing; write the name the server knows the model by, such as all-minilm", "")
		}
		checkKey(r, "brain.embedding", e.Provider, e.URL, e.APIKey)
	}
}

// checkKey insists on a key only where there is no getting in without one: openai is also spoken by servers at home.
func checkKey(r *reader, at, provider string, address URL, key Secret) {
	if provider != "ollama" && key.IsZero() && address.Reveal() == providerURLs[provider] && address.Reveal() != "" {
		r.mind(at+".api_key", fmt.Sprintf("is missing; %s asks for one, as in api_key: \"${NAME}\"", address), "")
	}
}

func (c *Config) checkChoice(r *reader) {
	names := slices.Sorted(maps.Keys(c.Brain.Models))
	// Entries that were refused are known by name all the same.
	for path := range r.origins {
		if name, ok := strings.CutPrefix(path, "brain.models."); ok && !strings.Contains(name, ".") && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	names = slices.DeleteFunc(names, func(name string) bool { return name == Offline })
	known := append(slices.Sorted(slices.Values(names)), Offline)
	unknown := func(path, name string) {
		near, _ := nearest(name, known)
		r.mind(path, fmt.Sprintf("%q is none of the models below brain.models: %s", name, strings.Join(known, ", ")), near)
	}
	switch m := c.Brain.Model; {
	case m == "" && !r.isBad("brain.models"):
		r.mind("brain.model", "is missing; pick one of "+strings.Join(known, ", "), "")
	case m != "" && !slices.Contains(known, m):
		unknown("brain.model", m)
	}
	for i, name := range c.Brain.Fallback {
		at := fmt.Sprintf("brain.fallback[%d]", i)
		if _, set := r.origins[at]; !set {
			at = "brain.fallback"
		}
		if !slices.Contains(known, name) {
			unknown(at, name)
		}
	}
}

func (c *Config) checkExceptions(r *reader) {
	var names []string
	for _, p := range c.People {
		names = append(names, p.Name)
	}
	for i, e := range c.Skills.PermissionsFor {
		at := fmt.Sprintf("skills.permissions_for[%d]", i)
		spelt := slices.IndexFunc(names, func(name string) bool { return strings.EqualFold(name, e.Person) })
		near, _ := nearest(e.Person, names)
		switch {
		case e.Person == "":
			r.mind(at+".person", "is missing; write a name from people", "")
		case spelt < 0 && !r.isBad("people"):
			r.mind(at+".person", fmt.Sprintf("%q is none of the people", e.Person), near)
		case spelt >= 0:
			c.Skills.PermissionsFor[i].Person = names[spelt]
		}
		if len(e.Tools) == 0 {
			r.mind(at+".tools", "is missing; write what changes, such as {web_fetch: deny}", "")
		}
	}
}
