package main

import (
	"fmt"
	"strings"
)

// fit is a model that a machine can carry.
type fit struct {
	name   string
	memory int64 // bytes the machine needs at least: twice what the model takes, since the rest of it has to live too
	size   int64 // of the download, in bytes
}

// fits are models of Ollama's library that know tools, by size alone, largest first. Sizes are those that the library
// lists. How well each of them serves a household has not been measured.
var fits = []fit{
	{"qwen3:30b", 38 * 1e9, 19 * 1e9},
	{"qwen3:14b", 186 * 1e8, 93 * 1e8},
	{"qwen3:8b", 104 * 1e8, 52 * 1e8},
	{"qwen3:4b", 5 * 1e9, 25 * 1e8},
	{"qwen3:1.7b", 28 * 1e8, 14 * 1e8},
	{"qwen3:0.6b", 1e9, 5 * 1e8},
}

// fitting is the largest model that takes at most half of the memory, in bytes.
func fitting(memory int64) (fit, bool) {
	for _, f := range fits {
		if memory >= f.memory {
			return f, true
		}
	}
	return fit{}, false
}

// sizeWords writes bytes as they are written on a box.
func sizeWords(bytes int64) string {
	if bytes <= 0 {
		return "unknown amount"
	}
	if bytes < 1e9 {
		return fmt.Sprintf("%d MB", (bytes+5e5)/1e6)
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(bytes)/1e9), ".0") + " GB"
}
