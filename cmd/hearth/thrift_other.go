//go:build !linux

package main

// unmapIdleCode is for Linux.
func unmapIdleCode() {}
