package config

import (
	"errors"
	"fmt"
)

// What a program needs that helps to write the file.

// Locate gives the path of the config file: the one from the command line, else $HEARTH_CONFIG, else DefaultPath.
func Locate(path string, env []string) string {
	path, _ = choosePath(path, environment(env))
	return path
}

// Read is Load of a text that is not, or not yet, in the file at path.
func Read(path string, text []byte, env []string) (*Config, error) {
	return build(file{path: path, found: len(text) > 0, mode: 0o600, text: text}, environment(env), Options{})
}

// ZoneName checks the name of a time zone. The error is a sentence's end: what is wrong, and what was probably meant.
func ZoneName(name string) (string, error) {
	read, err := zoneKind{}.read(value{text: name, shown: name}, surroundings{})
	var wrong *refusal
	if errors.As(err, &wrong) && wrong.suggest != "" {
		return "", fmt.Errorf("%w (did you mean %s?)", err, wrong.suggest)
	}
	if err != nil {
		return "", err
	}
	zone, _ := read.(string)
	return zone, nil
}
