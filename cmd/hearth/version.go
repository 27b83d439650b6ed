package main

import (
	"cmp"
	"context"
	"runtime"
	"runtime/debug"
)

// version is stamped by the build: -ldflags "-X main.version=…".
var version string

// whatsappLibrary brings code under the GPL-3.0 into a binary.
const whatsappLibrary = "go.mau.fi/whatsmeow"

// programVersion is the stamped version, else what Go knows of the build.
func programVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		return cmp.Or(info.Main.Version, "unversioned")
	}
	return "unversioned"
}

// licence is what may be done with this binary, told from what is linked into it.
func licence(info *debug.BuildInfo) string {
	const source = "Hearth's own source is under the MIT licence."
	if info != nil {
		for _, m := range info.Deps {
			if m.Path == whatsappLibrary {
				return source + " This binary contains the WhatsApp library, whose code is under the GPL-3.0, and is distributed under the GPL-3.0."
			}
		}
	}
	return source + " Binaries that contain the WhatsApp library are distributed under the GPL-3.0; this one does not contain it."
}

// cmdVersion prints version and licences.
func cmdVersion(_ context.Context, in *invocation) error {
	info, _ := debug.ReadBuildInfo()
	return say(in.out, "hearth %s\n%s, %s/%s\n%s", programVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH, licence(info))
}
