package main

// crashVariable names the point at which the program kills itself, as POINT or POINT:N for the N-th time it comes by:
// before:EVENT and after:EVENT around each commit of the vault, send and sent around the sends of a gateway (whatsapp-send and
// whatsapp-sent around those of WhatsApp, whatsapp-came and whatsapp-taken around the accepting of what comes there), the
// points of brain.Options.Hook, and any for all of them. It is for tests, and works only in a binary built with the tag
// crashpoints.
const crashVariable = "HEARTH_CRASH_AT"
