-- The first vault. Every instant is an integer: milliseconds since 1970 in UTC. Texts are UTF-8. The names are those of the
-- dictionary in ARCHITECTURE.md; a table is a noun, a column that ends in _id names a row of that noun.

-- Who the agent knows. Rows come from the YAML file (source config) or from pairing (source paired).
CREATE TABLE person (
  id       INTEGER PRIMARY KEY AUTOINCREMENT,
  name     TEXT NOT NULL UNIQUE COLLATE NOCASE,
  role     TEXT NOT NULL CHECK (role IN ('owner','member')),
  zone     TEXT NOT NULL DEFAULT '',           -- '' = the household's zone
  file_zone TEXT NOT NULL DEFAULT '',          -- what the YAML file said last: a zone set in chat holds until this changes
  source   TEXT NOT NULL CHECK (source IN ('config','paired','terminal')),
  gone     INTEGER,                            -- when the person was removed; rows that name them stay readable
  created  INTEGER NOT NULL
);
-- How a person is known on a messenger. One external id belongs to one person.
CREATE TABLE identity (
  gateway   TEXT NOT NULL,
  ext       TEXT NOT NULL,
  person_id INTEGER NOT NULL REFERENCES person(id),
  source    TEXT NOT NULL,
  PRIMARY KEY (gateway, ext)
) WITHOUT ROWID;
CREATE TABLE pair_code (
  code    TEXT PRIMARY KEY,
  person  TEXT NOT NULL,                       -- '' = ask nothing, take the sender's own name
  role    TEXT NOT NULL,
  tries   INTEGER NOT NULL DEFAULT 0,
  expires INTEGER NOT NULL,
  used    INTEGER
) WITHOUT ROWID;
-- Strangers: nothing but an id and when they last got the neutral line.
CREATE TABLE stranger (
  gateway TEXT NOT NULL,
  ext     TEXT NOT NULL,
  told    INTEGER NOT NULL,
  PRIMARY KEY (gateway, ext)
) WITHOUT ROWID;

-- One place of talk: a person's private chats together, or one group.
CREATE TABLE conversation (
  id        INTEGER PRIMARY KEY AUTOINCREMENT,
  kind      TEXT NOT NULL CHECK (kind IN ('private','group')),
  person_id INTEGER REFERENCES person(id),     -- private: whose
  gateway   TEXT NOT NULL DEFAULT '',          -- group: where
  chat      TEXT NOT NULL DEFAULT '',
  since_pos INTEGER NOT NULL DEFAULT 0,        -- /new: the model sees nothing at or before this position
  learned_pos INTEGER NOT NULL DEFAULT 0,      -- up to here it was read for facts
  created   INTEGER NOT NULL
);
CREATE UNIQUE INDEX conversation_private ON conversation(person_id) WHERE kind = 'private';
CREATE UNIQUE INDEX conversation_group ON conversation(gateway, chat) WHERE kind = 'group';
-- The messenger chats a conversation is reached through, with the last time its person wrote there.
CREATE TABLE chat (
  gateway TEXT NOT NULL, account TEXT NOT NULL, chat TEXT NOT NULL, thread TEXT NOT NULL,
  conversation_id INTEGER NOT NULL REFERENCES conversation(id),
  kind    TEXT NOT NULL,
  active  INTEGER NOT NULL,
  PRIMARY KEY (gateway, account, chat, thread)
) WITHOUT ROWID;
CREATE INDEX chat_conversation ON chat(conversation_id, active);

CREATE TABLE message (
  id        INTEGER PRIMARY KEY AUTOINCREMENT,
  conversation_id INTEGER NOT NULL REFERENCES conversation(id),
  run_id    INTEGER REFERENCES run(id),        -- the run that answers it; null for commands and what the program said by itself
  step      INTEGER,                           -- the step that first saw it; null = not yet seen by a model
  pos       INTEGER NOT NULL,                  -- place in the conversation's history
  role      TEXT NOT NULL CHECK (role IN ('user','assistant')),
  person_id INTEGER REFERENCES person(id),
  gateway   TEXT NOT NULL, account TEXT NOT NULL, chat TEXT NOT NULL, thread TEXT NOT NULL,
  sender    TEXT NOT NULL,
  ext       TEXT NOT NULL,                     -- the messenger's id of the message, or of the button press
  edit_time INTEGER NOT NULL DEFAULT 0,
  kind      TEXT NOT NULL,                     -- text, command, press, or what it was that could not be read
  text      TEXT NOT NULL,
  forwarded TEXT NOT NULL DEFAULT '',          -- whose words they are, when forwarded
  quoted    TEXT NOT NULL DEFAULT '',          -- the text it answers to
  edited    INTEGER NOT NULL DEFAULT 0,        -- 1 = joined as a correction of an earlier message
  sent      INTEGER NOT NULL,                  -- by the sender's clock
  received  INTEGER NOT NULL,
  raw       BLOB                               -- dropped when its run ends
);
CREATE UNIQUE INDEX message_once ON message(gateway, account, chat, ext, sender, edit_time) WHERE role = 'user';
CREATE INDEX message_run ON message(run_id);
CREATE INDEX message_history ON message(conversation_id, pos);
-- What was said, to find it by. The tokens are made by the program (index.go); the text stands in message alone. A row's number
-- holds its conversation, so that a search walks only through what it may show; column who holds p3 for what person 3 said.
-- A command is not said to anybody: what it keeps is kept elsewhere.
-- The view is for who reads the whole file without the program, as a dump does: an index without contents could not be read.
CREATE VIEW message_said AS SELECT (conversation_id << 40) | id AS id, text AS tokens, '' AS who FROM message;
CREATE VIRTUAL TABLE message_fts USING fts5(tokens, who, content = 'message_said', content_rowid = 'id', columnsize = 0, tokenize = "ascii");
INSERT INTO message_fts(message_fts, rank) VALUES('secure-delete', 1);
CREATE TRIGGER message_fts_insert AFTER INSERT ON message WHEN new.kind = 'text' AND new.text NOT IN ('', '[forgotten]') AND new.text NOT LIKE '/%' BEGIN
  INSERT INTO message_fts(rowid, tokens, who) VALUES((new.conversation_id << 40) | new.id, search_tokens(new.text), coalesce('p' || new.person_id, ''));
END;
CREATE TRIGGER message_fts_delete AFTER DELETE ON message WHEN old.kind = 'text' AND old.text NOT IN ('', '[forgotten]') AND old.text NOT LIKE '/%' BEGIN
  INSERT INTO message_fts(message_fts, rowid, tokens, who) VALUES('delete', (old.conversation_id << 40) | old.id, search_tokens(old.text), coalesce('p' || old.person_id, ''));
END;
CREATE TRIGGER message_fts_update AFTER UPDATE OF kind, text, conversation_id, person_id ON message BEGIN
  INSERT INTO message_fts(message_fts, rowid, tokens, who) SELECT 'delete', (old.conversation_id << 40) | old.id, search_tokens(old.text), coalesce('p' || old.person_id, '') WHERE old.kind = 'text' AND old.text NOT IN ('', '[forgotten]') AND old.text NOT LIKE '/%';
  INSERT INTO message_fts(rowid, tokens, who) SELECT (new.conversation_id << 40) | new.id, search_tokens(new.text), coalesce('p' || new.person_id, '') WHERE new.kind = 'text' AND new.text NOT IN ('', '[forgotten]') AND new.text NOT LIKE '/%';
END;

CREATE TABLE run (
  id        INTEGER PRIMARY KEY AUTOINCREMENT,
  conversation_id INTEGER NOT NULL REFERENCES conversation(id),
  person_id INTEGER REFERENCES person(id),
  trigger   TEXT NOT NULL CHECK (trigger IN ('message','job','system')),
  task      TEXT NOT NULL DEFAULT '',          -- summary, facts: background work that says nothing and is no part of the talk
  key       TEXT UNIQUE,                       -- job:7@DUE: a job fires once for a due instant
  gateway   TEXT NOT NULL, account TEXT NOT NULL, chat TEXT NOT NULL, thread TEXT NOT NULL,  -- where the answer goes
  sender    TEXT NOT NULL DEFAULT '',
  job_id    INTEGER,
  due       INTEGER,
  input     TEXT NOT NULL DEFAULT '',          -- a job's goal, for a run that no message began
  state     TEXT NOT NULL CHECK (state IN ('queued','running','waiting','done','failed','stopped')),
  reason    TEXT NOT NULL DEFAULT '',
  priority  INTEGER NOT NULL DEFAULT 0,
  pos       INTEGER NOT NULL DEFAULT 0,        -- place in the history, given when it is first taken up
  ready_at  INTEGER NOT NULL,                  -- not before this (a burst, a retry)
  burst_end INTEGER,                           -- a burst waits no longer than this
  retries   INTEGER NOT NULL DEFAULT 0,        -- model failures in a row
  noticed   INTEGER,                           -- when its owner was told that it waits
  waits     TEXT NOT NULL DEFAULT '',          -- what it waits for while it runs, in words for its person; '' = it works
  context   TEXT NOT NULL DEFAULT '',          -- the changing block of the prompt, written once
  model     TEXT NOT NULL DEFAULT '',
  steps INTEGER NOT NULL DEFAULT 0, calls INTEGER NOT NULL DEFAULT 0,
  tokens_in INTEGER NOT NULL DEFAULT 0, tokens_out INTEGER NOT NULL DEFAULT 0,
  usd       REAL,                              -- null = not known
  worked    INTEGER NOT NULL DEFAULT 0,        -- milliseconds it was running, over all its lives
  queued    INTEGER NOT NULL, claimed INTEGER, started INTEGER, ended INTEGER
);
CREATE INDEX run_state ON run(state, conversation_id);
CREATE INDEX run_history ON run(conversation_id, pos);
CREATE INDEX run_task ON run(conversation_id, task, id) WHERE task != '';

CREATE TABLE step (
  run_id  INTEGER NOT NULL REFERENCES run(id),
  n       INTEGER NOT NULL,
  kind    TEXT NOT NULL CHECK (kind IN ('model','note')),  -- note: what the program told the model, e.g. about an empty answer
  text    TEXT NOT NULL,
  model   TEXT NOT NULL DEFAULT '',
  tokens_in INTEGER NOT NULL DEFAULT 0, tokens_out INTEGER NOT NULL DEFAULT 0,
  usd     REAL,
  started INTEGER NOT NULL, ended INTEGER NOT NULL,
  PRIMARY KEY (run_id, n)
) WITHOUT ROWID;

-- The ledger of what was asked of models. A row is committed before a request is made, with the most that it can take; the
-- commit that saves the answer settles it. A request that was cut keeps the most that it can have taken: nobody knows what
-- was billed for it. One that its server refused leaves no row.
CREATE TABLE spend (
  id      INTEGER PRIMARY KEY AUTOINCREMENT,
  run_id  INTEGER REFERENCES run(id),          -- null = for none in particular
  person_id INTEGER REFERENCES person(id),     -- whose run it is
  job_id  INTEGER,
  purpose TEXT NOT NULL,                       -- step, or what else a model is asked for
  model   TEXT NOT NULL,
  state   TEXT NOT NULL CHECK (state IN ('open','settled','cut')),
  tokens_in INTEGER NOT NULL, tokens_out INTEGER NOT NULL,
  cache_read INTEGER NOT NULL DEFAULT 0, cache_wrote INTEGER NOT NULL DEFAULT 0,  -- of tokens_in, by the provider's cache
  usd     REAL,                                -- null = the price is not known
  at      INTEGER NOT NULL,                    -- when the model was asked: the day that it counts to
  took    INTEGER NOT NULL DEFAULT 0           -- milliseconds
);
CREATE INDEX spend_at ON spend(at);
CREATE INDEX spend_run ON spend(run_id);
CREATE INDEX spend_open ON spend(id) WHERE state = 'open';

CREATE TABLE call (
  id      INTEGER PRIMARY KEY AUTOINCREMENT,
  run_id  INTEGER NOT NULL REFERENCES run(id),
  step    INTEGER NOT NULL,
  i       INTEGER NOT NULL,
  tool    TEXT NOT NULL,
  args    TEXT NOT NULL,                       -- canonical JSON
  hash    TEXT NOT NULL,                       -- of tool and args: what an approval is bound to
  effect  TEXT NOT NULL CHECK (effect IN ('reads','sets','acts')),
  state   TEXT NOT NULL CHECK (state IN ('proposed','waiting','approved','started','done','failed','denied','unknown','dropped')),
  result  TEXT NOT NULL DEFAULT '',
  receipt TEXT NOT NULL DEFAULT '',            -- what the program did, in its own words
  silent  INTEGER NOT NULL DEFAULT 0,          -- 1 = with it the run was to end without a word
  started INTEGER, ended INTEGER,
  UNIQUE (run_id, step, i)
);

CREATE TABLE approval (
  id      INTEGER PRIMARY KEY AUTOINCREMENT,
  run_id  INTEGER REFERENCES run(id),
  call_id INTEGER REFERENCES call(id),
  part_id INTEGER,                             -- the message to a third person that may have arrived, when it is about one
  kind    TEXT NOT NULL CHECK (kind IN ('call','unknown','budget','cloud')),
  tool    TEXT NOT NULL DEFAULT '',
  arguments TEXT NOT NULL DEFAULT '',
  hash    TEXT NOT NULL DEFAULT '',
  choices TEXT NOT NULL,                       -- JSON array of words
  about   TEXT NOT NULL DEFAULT '',            -- what an answer of always would cover; '' = every use of the tool
  question TEXT NOT NULL DEFAULT '',
  person_id INTEGER REFERENCES person(id),     -- the owner who is asked
  state   TEXT NOT NULL CHECK (state IN ('open','approved','denied','answered','expired')),
  asked   INTEGER NOT NULL, expires INTEGER, mentioned INTEGER,
  decided INTEGER, decided_by INTEGER REFERENCES person(id), choice TEXT NOT NULL DEFAULT ''
);
CREATE INDEX approval_open ON approval(expires) WHERE state = 'open';
CREATE INDEX approval_run ON approval(run_id);
CREATE INDEX approval_budget ON approval(asked) WHERE kind = 'budget';
-- What was answered with "always".
CREATE TABLE rule (
  id      INTEGER PRIMARY KEY AUTOINCREMENT,
  tool    TEXT NOT NULL,
  person_id INTEGER REFERENCES person(id),     -- whose runs it speaks of
  chat    TEXT NOT NULL,                       -- private, group or any
  about   TEXT NOT NULL DEFAULT '',            -- which uses; '' = every one
  created INTEGER NOT NULL,
  created_by INTEGER REFERENCES person(id),
  approval_id INTEGER REFERENCES approval(id),
  dropped INTEGER
);

CREATE TABLE outbox (
  id      INTEGER PRIMARY KEY AUTOINCREMENT,
  key     TEXT UNIQUE,
  run_id  INTEGER REFERENCES run(id),
  job_id  INTEGER,
  approval_id INTEGER REFERENCES approval(id),
  conversation_id INTEGER REFERENCES conversation(id),
  gateway TEXT NOT NULL, account TEXT NOT NULL, chat TEXT NOT NULL, thread TEXT NOT NULL,
  class   TEXT NOT NULL CHECK (class IN ('answer','reminder','message','notice','progress','question')),
  state   TEXT NOT NULL CHECK (state IN ('waiting','sending','sent','unknown','failed','dropped')),
  text    TEXT NOT NULL,
  entities TEXT NOT NULL DEFAULT '',           -- '' = the text is Markdown; else its styles, as JSON, where the text was cut
  buttons TEXT NOT NULL DEFAULT '',            -- JSON [[label, data], …]
  outcome TEXT NOT NULL DEFAULT '',            -- what its buttons have come to, in words, when they belong to no approval
  reply_to TEXT NOT NULL DEFAULT '',
  ref     TEXT NOT NULL DEFAULT '',            -- the messenger's id
  stable  TEXT NOT NULL DEFAULT '',            -- the id chosen before sending, where a gateway can
  marked  INTEGER NOT NULL DEFAULT 0,          -- 1 = it may be a repeat and says so
  rests   INTEGER NOT NULL DEFAULT 0,          -- 1 = it waits to be repeated, and others of its chat may pass it
  due     INTEGER, late TEXT NOT NULL DEFAULT '',
  attempts INTEGER NOT NULL DEFAULT 0,
  next_try INTEGER NOT NULL DEFAULT 0,
  boot    TEXT NOT NULL DEFAULT '',            -- of the machine, when it became sending
  error   TEXT NOT NULL DEFAULT '',
  told    INTEGER,                             -- the owner was told that it failed
  shown   TEXT NOT NULL DEFAULT '',            -- progress: what the messenger shows of it by now
  live    INTEGER NOT NULL DEFAULT 0,          -- progress: 1 = it may still change, 2 = only to its last words, 0 = over
  held    INTEGER,                             -- waits for the end of its person's quiet hours, and stands in no lane until then
  bundle  INTEGER,                             -- the part in whose text it goes out
  created INTEGER NOT NULL, sent INTEGER
);
CREATE INDEX outbox_held ON outbox(held) WHERE held IS NOT NULL;
CREATE INDEX outbox_bundle ON outbox(bundle) WHERE bundle IS NOT NULL;
CREATE INDEX outbox_lane ON outbox(gateway, chat, id) WHERE state IN ('waiting','sending');
CREATE INDEX outbox_dead ON outbox(gateway, state) WHERE state IN ('unknown','failed');
CREATE INDEX outbox_run ON outbox(run_id);
CREATE INDEX outbox_job ON outbox(job_id);
CREATE INDEX outbox_stable ON outbox(gateway, stable) WHERE stable != '';
CREATE INDEX outbox_live ON outbox(gateway, id) WHERE live != 0;
CREATE INDEX outbox_buttons ON outbox(gateway, id) WHERE buttons != '' AND (approval_id IS NOT NULL OR outcome != '');

CREATE TABLE job (
  id      INTEGER PRIMARY KEY AUTOINCREMENT,
  key     TEXT UNIQUE,                         -- of the call or command that made it
  kind    TEXT NOT NULL CHECK (kind IN ('say','do')),
  person_id INTEGER REFERENCES person(id),
  conversation_id INTEGER NOT NULL REFERENCES conversation(id),
  gateway TEXT NOT NULL, account TEXT NOT NULL, chat TEXT NOT NULL, thread TEXT NOT NULL,
  text    TEXT NOT NULL,
  spec    TEXT NOT NULL DEFAULT '',            -- recurrence in the form of scheduler/when; '' = once
  words   TEXT NOT NULL DEFAULT '',            -- as the person said it
  zone    TEXT NOT NULL,
  missed  TEXT NOT NULL DEFAULT 'once' CHECK (missed IN ('once','skip','all')),
  next    INTEGER,                             -- null = nothing more to come
  held    INTEGER,                             -- due, and waits for the end of its person's quiet hours
  state   TEXT NOT NULL CHECK (state IN ('waiting','firing','paused','done','cancelled','failed')),
  last_due INTEGER, last_result TEXT NOT NULL DEFAULT '',
  fired   INTEGER NOT NULL DEFAULT 0,
  chain   INTEGER NOT NULL DEFAULT 0,          -- how many wake-ups led to this one
  created_by_run INTEGER,
  created INTEGER NOT NULL, changed INTEGER NOT NULL
);
CREATE INDEX job_next ON job(next) WHERE next IS NOT NULL AND held IS NULL AND state IN ('waiting','firing');
CREATE INDEX job_held ON job(held) WHERE held IS NOT NULL;
CREATE INDEX job_person ON job(person_id, state, next);
-- One row a firing, and one for each instant that was missed.
CREATE TABLE fire (
  job_id  INTEGER NOT NULL REFERENCES job(id),
  due     INTEGER NOT NULL,
  at      INTEGER NOT NULL,
  run_id  INTEGER,
  result  TEXT NOT NULL,
  PRIMARY KEY (job_id, due)
) WITHOUT ROWID;

CREATE TABLE memory (
  id      INTEGER PRIMARY KEY AUTOINCREMENT,
  key     TEXT UNIQUE,
  person_id INTEGER REFERENCES person(id),
  conversation_id INTEGER REFERENCES conversation(id),
  scope   TEXT NOT NULL CHECK (scope IN ('person','conversation','household')),
  kind    TEXT NOT NULL CHECK (kind IN ('fact','preference','person','place','rule')),
  text    TEXT NOT NULL,
  norm    TEXT NOT NULL,                       -- the text folded, to see the same fact told again
  gist    TEXT NOT NULL DEFAULT '',            -- the words it is about, to see it told in other words (gist.go)
  pinned  INTEGER NOT NULL DEFAULT 0,
  source  TEXT NOT NULL CHECK (source IN ('message','command','extracted')),
  source_message INTEGER, source_run INTEGER,
  origin  TEXT NOT NULL DEFAULT '',            -- whose words, when they were not the person's own
  superseded_by INTEGER REFERENCES memory(id),
  created INTEGER NOT NULL, updated INTEGER NOT NULL
);
CREATE INDEX memory_person ON memory(person_id, scope);
CREATE INDEX memory_conversation ON memory(conversation_id);
CREATE INDEX memory_norm ON memory(norm);
CREATE INDEX memory_gist ON memory(gist);
CREATE INDEX memory_source ON memory(source_message) WHERE source_message IS NOT NULL;
CREATE INDEX memory_superseded ON memory(superseded_by) WHERE superseded_by IS NOT NULL;
CREATE INDEX memory_pinned ON memory(id) WHERE pinned;
CREATE INDEX memory_rule ON memory(id) WHERE kind = 'rule';
-- The tokens are made by the program (tokens.go); ascii leaves all that is not ASCII as it is.
CREATE VIRTUAL TABLE memory_fts USING fts5(tokens, tokenize = "ascii");
INSERT INTO memory_fts(memory_fts, rank) VALUES('secure-delete', 1);

-- What memories and messages mean, in the numbers that an embedding model makes of their words. Empty where none is configured.
CREATE TABLE embedding (
  id    INTEGER PRIMARY KEY AUTOINCREMENT,
  model TEXT NOT NULL,
  dim   INTEGER NOT NULL,                      -- how many numbers it makes
  memory_low  INTEGER NOT NULL, memory_high  INTEGER NOT NULL,  -- what is numbered above low and up to high was looked at
  message_low INTEGER NOT NULL, message_high INTEGER NOT NULL,
  chosen INTEGER NOT NULL,                     -- the highest is in use
  UNIQUE (model, dim)
);
-- The key begins with what decides who may find it: the scope of a memory, or "said" for a message, and whose or where that is.
CREATE TABLE vector (
  reach TEXT NOT NULL CHECK (reach IN ('household','person','conversation','said')),
  place INTEGER NOT NULL,                      -- the person's or the conversation's number; 0 = the household
  item  INTEGER NOT NULL,                      -- the memory's or the message's number
  embedding_id INTEGER NOT NULL,
  sign  BLOB NOT NULL,                         -- the signs of the numbers, a bit each
  scale REAL NOT NULL, whole BLOB NOT NULL,    -- the numbers, a byte each, in this unit
  PRIMARY KEY (reach, place, item)
) WITHOUT ROWID;
-- A search reads the signs of all that a scope reaches, and nothing else of them.
CREATE INDEX vector_signs ON vector(embedding_id, reach, place, item, sign);
-- What had a vector and has other words now.
CREATE TABLE vector_due (
  kind TEXT NOT NULL CHECK (kind IN ('memory','message')),
  item INTEGER NOT NULL,
  PRIMARY KEY (kind, item)
) WITHOUT ROWID;
-- No event can take words away and leave behind what they meant.
CREATE TRIGGER vector_memory_delete AFTER DELETE ON memory BEGIN
  DELETE FROM vector WHERE reach = old.scope AND place = CASE old.scope WHEN 'person' THEN old.person_id WHEN 'conversation' THEN old.conversation_id ELSE 0 END AND item = old.id;
  DELETE FROM vector_due WHERE kind = 'memory' AND item = old.id;
END;
CREATE TRIGGER vector_memory_update AFTER UPDATE OF text, scope, person_id, conversation_id ON memory BEGIN
  INSERT OR IGNORE INTO vector_due SELECT 'memory', item FROM vector WHERE reach = old.scope AND place = CASE old.scope WHEN 'person' THEN old.person_id WHEN 'conversation' THEN old.conversation_id ELSE 0 END AND item = old.id;
  DELETE FROM vector WHERE reach = old.scope AND place = CASE old.scope WHEN 'person' THEN old.person_id WHEN 'conversation' THEN old.conversation_id ELSE 0 END AND item = old.id;
END;
CREATE TRIGGER vector_message_delete AFTER DELETE ON message BEGIN
  DELETE FROM vector WHERE reach = 'said' AND place = old.conversation_id AND item = old.id;
  DELETE FROM vector_due WHERE kind = 'message' AND item = old.id;
END;
CREATE TRIGGER vector_message_update AFTER UPDATE OF kind, text, conversation_id ON message BEGIN
  INSERT OR IGNORE INTO vector_due SELECT 'message', item FROM vector WHERE reach = 'said' AND place = old.conversation_id AND item = old.id;
  DELETE FROM vector WHERE reach = 'said' AND place = old.conversation_id AND item = old.id;
END;

-- What was forgotten must not be brought back by who reads an old talk: a keyed hash of what each fact was about, no word of it.
CREATE TABLE tombstone (
  mark    BLOB PRIMARY KEY,
  upto    INTEGER NOT NULL,                    -- the newest message then: what is said behind it counts as told again
  made    INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE summary (
  id      INTEGER PRIMARY KEY AUTOINCREMENT,
  conversation_id INTEGER NOT NULL REFERENCES conversation(id),
  from_pos INTEGER NOT NULL, to_pos INTEGER NOT NULL,
  text    TEXT NOT NULL, model TEXT NOT NULL, created INTEGER NOT NULL
);
CREATE INDEX summary_conversation ON summary(conversation_id, to_pos);

-- What holds until it is changed: pause, the model chosen in a chat, a poll offset, the last seen clock.
CREATE TABLE setting (
  name  TEXT PRIMARY KEY,
  value TEXT NOT NULL,
  changed INTEGER NOT NULL
) WITHOUT ROWID;
-- Inbound bytes that could not be understood; swept after seven days.
CREATE TABLE quarantine (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  gateway TEXT NOT NULL, account TEXT NOT NULL, reason TEXT NOT NULL, raw BLOB NOT NULL, at INTEGER NOT NULL
);
CREATE TABLE counter (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO counter VALUES('pos', 0);
