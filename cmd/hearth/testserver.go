package main

// testServerVariable leads WhatsApp to a server on loopback: ADDRESS,ROOTKEY[,hasty]. The root key is 32 bytes in hexadecimal
// and takes the place of WhatsApp's own; hasty has dead lines noticed in seconds. It is for tests, and works only in a
// binary built with the tag testserver.
const testServerVariable = "HEARTH_TEST_WHATSAPP"
