package offline

import (
	"strings"
)

// examples are one sentence of each kind. The table of sentences in the tests holds them all.
const examples = `• "remind me tomorrow at 9 to call mum", "list my reminders", "cancel reminder 2"
• "remember that my sister is allergic to nuts", "what do you know about my sister", "forget memory 3"
• "save milk and bread to shopping.txt", "read shopping.txt", "list files"`

const connect = "For real conversation connect a language model: install Ollama (ollama.com) and pull a model, or name one under brain.models in the YAML file."

// notUnderstood names what it is about: the words may be days old, a wake-up's goal.
func notUnderstood(words string) string {
	if words = strings.Join(strings.Fields(words), " "); words != "that" {
		if r := []rune(words); len(r) > 80 {
			words = string(r[:80]) + "…"
		}
		words = "\"" + words + "\""
	}
	return "I do not understand " + words + ": no language model is connected, so I only know plain sentences such as\n" + examples + "\n" + connect
}

const onlyForwarded = "What is forwarded I never take as an order. Tell me in your own words what to do with it, for instance \"remember this\" or \"remind me about this at 18:00\"."

const help = "No language model is connected, so I understand plain sentences:\n" + examples + "\n" + connect

const hello = "Hello. No language model is connected, but I keep reminders, memories and files; say \"help\" for examples."

var (
	greeting = lazily(`(?i)^(?:hello|hi|hey|hiya|howdy|good (?:morning|afternoon|evening|day)|hallo|guten (?:morgen|tag|abend)|moin|servus|hola|buen[oa]s (?:d[ií]as|tardes|noches)|bonjour|bonsoir|salut|ol[aá]|bom dia|boa (?:tarde|noite)|ciao|buongiorno|buonasera)(?: there| hearth| everybody| all)?$`)
	thanking = lazily(`(?i)^(?:many )?(?:thanks|thank you|thx|ty|cheers|great|perfect|nice|ok|okay|cool|good|danke|gracias|merci|obrigad[oa]|grazie)(?: a lot| very much| so much| you| sch[oö]n| mil)?(?:,? (?:thanks|thank you|hearth))?$`)
	bye      = lazily(`(?i)^(?:bye|goodbye|good night|see you|tsch[uü]ss|adi[oó]s|au revoir|tchau|arrivederci)(?: bye| later)?$`)
	helping  = lazily(`(?i)^(?:help|help me|what can (?:you|i) do|what do you do|how does this work|how do(?:es)? (?:you|this|it) work|who are you|what are you|commands|hilfe|ayuda|aide|ajuda|aiuto|\?)$`)
)

func smallTalk(_ talk, s sentence) (wish, bool) {
	switch {
	case s.match(greeting) != nil:
		return wish{say: hello, filler: true}, true
	case s.match(thanking) != nil:
		return wish{say: "You are welcome.", filler: true}, true
	case s.match(bye) != nil:
		return wish{say: "Until next time.", filler: true}, true
	case s.match(helping) != nil:
		return say(help), true
	}
	return wish{}, false
}

// cannotHere is for a tool that the permissions of this chat leave out.
func cannotHere(tool string) string {
	what := map[string]string{
		"remind": "set reminders", "jobs": "list reminders", "change_job": "change reminders", "cancel_job": "cancel reminders",
		"remember": "remember things", "recall": "look into my memory", "forget": "forget things",
		"list_files": "list files", "read_file": "read files", "write_file": "write files",
	}[tool]
	return "I may not " + what + " in this chat."
}
