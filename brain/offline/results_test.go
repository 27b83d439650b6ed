package offline

import (
	"strings"

	"hearth/skills"
)

const twoJobs = "Reminder 7: Fri 13 Mar 2026, 09:00 (Europe/Lisbon): dentist\nFollow-up 9: every weekday at 08:00, next Mon 16 Mar 2026, 08:00 (Europe/Lisbon): check the forecast"

const twoFacts = "#3 (since 3 Mar 2026): my sister is allergic to nuts\n#5 (since 4 Mar 2026; forwarded from Eve, not the person's own words): my sister lives in Porto"

// results are a sentence, what its calls gave, and what is said or called then.
var results = []struct {
	words string
	given []string
	want  string
}{
	{"remind me in 1 minute to stretch", []string{skills.Done + "The person has been shown this:\nReminder 1: …"}, ""},
	{"remember that Ben likes tea", []string{skills.Done + "…"}, ""},
	{"cancel reminder 9", []string{"there is no reminder 9; jobs lists those there are"}, "There is no reminder 9."},
	{"move reminder 2 to at 9", []string{skills.AskPrefix + "Reminder 2 comes daily. What shall its new rhythm be?"}, "Reminder 2 comes daily. What shall its new rhythm be?"},
	{"remind me tomorrow at 9 to x", []string{"error: Tue 10 Mar 2026 is in the past: now it is later."}, "Tue 10 Mar 2026 is in the past: now it is later."},
	{"forget memory 3", []string{"there is no memory 3 to forget; recall gives the numbers"}, "There is no memory 3 to forget."},
	{"forget memory 3", []string{"Not done: the owner's settings do not allow this here. Do not try it in another way; say so."}, "The owner's settings do not allow this here."},
	{"forget memory 3", []string{""}, "That did not work, and I was not told why."},

	{"list my reminders", []string{"There are no reminders."}, "You have no reminders."},
	{"list my reminders", []string{"Reminder 7: Fri 13 Mar 2026, 09:00 (Europe/Lisbon): dentist"}, "You have one:\n• Reminder 7: Fri 13 Mar 2026, 09:00 (Europe/Lisbon): dentist"},
	{"list my reminders", []string{twoJobs + "\nand 3 more, later ones"}, "Your reminders, next first:\n• " + strings.ReplaceAll(twoJobs, "\n", "\n• ") + "\nand 3 more, later ones"},
	{"what's next", []string{twoJobs}, "Next comes Reminder 7: Fri 13 Mar 2026, 09:00 (Europe/Lisbon): dentist"},
	{"what's next", []string{"There are no reminders."}, "You have no reminders."},
	{"list my reminders", []string{"the disk is full"}, "The disk is full."},

	{"cancel the dentist reminder", []string{twoJobs}, `cancel_job{"id":7}`},
	{"cancel the dentist reminder", []string{twoJobs, skills.Done + "…"}, ""},
	{"cancel the reminder about forecasts", []string{twoJobs}, "None of your reminders is about that. Say its number, for instance \"cancel reminder 2\":\n• " + strings.ReplaceAll(twoJobs, "\n", "\n• ")},
	{"cancel the europe reminder", []string{twoJobs}, "Which one? Say its number, for instance \"cancel reminder 2\":\n• " + strings.ReplaceAll(twoJobs, "\n", "\n• ")},
	{"cancel the dentist reminder", []string{"There are no reminders."}, "You have no reminders."},
	{"make it 10", []string{"Reminder 7: Fri 13 Mar 2026, 09:00 (Europe/Lisbon): dentist"}, `change_job{"id":7,"when":"10"}`},
	{"no, I meant today at 18:00", []string{"Reminder 7: Fri 13 Mar 2026, 09:00 (Europe/Lisbon): dentist"}, `change_job{"id":7,"when":"today at 18:00"}`},
	{"make it 10", []string{twoJobs}, "Which one? Say its number, for instance \"move reminder 2 to 10\":\n• " + strings.ReplaceAll(twoJobs, "\n", "\n• ")},

	{"what do you know about my sister", []string{"#3 (since 3 Mar 2026): my sister is allergic to nuts"}, "Here is what I know about your sister: my sister is allergic to nuts (memory 3, since 3 Mar 2026)"},
	{"what do you know about my sister", []string{twoFacts}, "Here is what I know about your sister:\n• my sister is allergic to nuts (memory 3, since 3 Mar 2026)\n• my sister lives in Porto (memory 5, since 4 Mar 2026; forwarded from Eve, not your own words)"},
	{"what do you know about my sister", []string{"Nothing is remembered about this."}, "I know nothing about your sister. Tell me with \"remember that …\"."},
	{"when is my sister's birthday?", []string{"Nothing is remembered about this."}, "I know nothing about that. Tell me with \"remember that …\"."},
	{"what do you remember", []string{"Nothing is remembered about this."}, "I remember nothing yet. Tell me something with \"remember that …\"."},
	{"what do you remember", []string{"#3 (since 3 Mar 2026): a fact\nand more; search with more exact words to see it"}, "Here is what I remember: a fact (memory 3, since 3 Mar 2026)"},
	{"what do you know about my sister", []string{"the disk is full"}, "The disk is full."},

	{"forget that my sister is allergic to nuts", []string{twoFacts}, `forget{"id":3}`},
	{"forget that my sister is allergic to nuts", []string{twoFacts, skills.Done + "…"}, ""},
	{"forget about my sister", []string{twoFacts}, "Which one? Say its number, for instance \"forget memory 3\":\n• my sister is allergic to nuts (memory 3, since 3 Mar 2026)\n• my sister lives in Porto (memory 5, since 4 Mar 2026; forwarded from Eve, not your own words)"},
	{"forget my sister's address", []string{"#3 (since 3 Mar 2026): my sister is allergic to nuts"}, "Which one? Say its number, for instance \"forget memory 3\":\n• my sister is allergic to nuts (memory 3, since 3 Mar 2026)"},
	{"forget my old address", []string{"Nothing is remembered about this."}, "I know nothing about that. Tell me with \"remember that …\"."},

	{"list files", []string{"Files in the workspace:\nlists/\nnotes.txt (12 bytes)"}, "Files in the workspace:\n• lists/\n• notes.txt (12 bytes)"},
	{"list files", []string{"There are no files in the workspace."}, "There are no files in the workspace."},
	{"read notes.txt", []string{"notes.txt:\nbuy milk\nDone. "}, "notes.txt:\nbuy milk\nDone. "},
	{"read ./notes.txt", []string{"notes.txt (shown 16,000 of 40,800 characters; the rest is in the file):\nbuy"}, "notes.txt (shown 16,000 of 40,800 characters; the rest is in the file):\nbuy"},
	{"read note.txt", []string{"there is no note.txt in the workspace; at its top there is: notes.txt"}, "There is no note.txt in the workspace; at its top there is: notes.txt."},
	{"read notes.txt", []string{"notes.txt is a folder; list_files shows what is in it"}, "notes.txt is a folder."},
	{"save x to notes.txt", []string{skills.Done + "…"}, ""},
}
