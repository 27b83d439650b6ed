package main

// crashVariable names the point at which the program kills itself, as POINT or POINT:N for the N-th time it comes by:
// before:EVENT and after:EVENT around each commit of the vault, send and sent around the terminal's sends (whatsapp-send, whatsapp-sent, whatsapp-came and
// whatsapp-taken around those of WhatsApp and what comes in there), and the points
// of brain.Options.Hook. It is for tests, and works only in a binary built with the tag crashpoints.
const crashVariable = "HEARTH_CRASH_AT"
