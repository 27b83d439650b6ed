package inbox

import (
	"encoding/json"
	"fmt"

	"hearth/vault"
)

// SettingPull is where /model notes a model that its server has to install first, as a Pull. Whoever can talk to model
// servers does it, and then sets SettingModel; the note outlives a restart.
const SettingPull = "model_pull"

// Pull is a model that is to be installed, and then used.
type Pull struct {
	Name         string        `json:"name"`  // as in the YAML file
	Model        string        `json:"model"` // as its server calls it
	To           vault.Address `json:"to"`    // where it was asked for
	Conversation int64         `json:"conversation"`
	Key          string        `json:"key"` // of the message that asked for it; what is told about it is keyed by this
}

// ReadPull reads the setting; a Pull without a name is none. What cannot be read is none either: nobody waits for it.
func ReadPull(setting string) (p Pull) {
	if json.Unmarshal([]byte(setting), &p) != nil || p.Model == "" || p.Key == "" {
		return Pull{}
	}
	return p
}

// pull is the one that goes on now.
func (r *request) pull() (Pull, error) {
	setting, err := r.tx.Setting(SettingPull)
	return ReadPull(setting), err
}

// missing asks before the commit whether the model that an owner names is there.
func (i *Inbox) missing(r *request) string {
	if i.opt.Missing == nil || r.arg == "" || !r.from.IsOwner() {
		return ""
	}
	chosen := chosenModel(r.models.Names, r.arg)
	if chosen == "" {
		return ""
	}
	return i.opt.Missing(r.ctx, chosen)
}

// beginPull notes that a model is to be installed. The one in use goes on meanwhile.
func (r *request) beginPull(before Pull, chosen string) ([]string, error) {
	if before.Name == chosen && before.Model == r.missing {
		return say("%s is being pulled already. I say when it is there.", r.missing)
	}
	note, err := json.Marshal(Pull{
		Name: chosen, Model: r.missing, Conversation: r.c.ID, Key: r.key(),
		To: vault.Address{Gateway: r.in.Gateway, Account: r.in.Account, Chat: r.in.Chat, Thread: r.in.Thread},
	})
	if err != nil {
		return nil, err
	}
	if err := r.tx.Set(SettingPull, string(note)); err != nil {
		return nil, err
	}
	words := fmt.Sprintf("%s is not installed on its server, so I have it pulled now and say when it is there.", r.missing)
	if r.models.InUse != chosen {
		words += fmt.Sprintf(" Until then %s answers; /model %s ends the pull.", r.models.InUse, r.models.InUse)
	}
	return []string{words}, nil
}

// endPull takes the note away, since another model was chosen, and says so.
func (r *request) endPull(before Pull) (string, error) {
	if before.Model == "" {
		return "", nil
	}
	return " " + before.Model + " is not pulled any further.", r.tx.Set(SettingPull, "")
}
