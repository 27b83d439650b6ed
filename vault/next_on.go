//go:build nextschema

package vault

// madeUp stands for the next version in upgrade tests. It touches the tables that parked runs live in: new columns, a table
// that is built anew, an index.
var madeUp = []string{`
ALTER TABLE run ADD COLUMN next_mood TEXT NOT NULL DEFAULT 'calm';
ALTER TABLE call ADD COLUMN next_note TEXT;
CREATE TABLE next_choice(approval_id INTEGER NOT NULL REFERENCES approval(id), choice TEXT NOT NULL, PRIMARY KEY (approval_id, choice)) WITHOUT ROWID;
INSERT INTO next_choice(approval_id, choice) SELECT a.id, j.value FROM approval a, json_each(a.choices) j WHERE json_valid(a.choices);
UPDATE call SET next_note = 'asked' WHERE state = 'waiting';
DROP INDEX approval_run;
CREATE INDEX approval_run ON approval(run_id, state);
`}
