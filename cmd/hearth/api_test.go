package main

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"hearth/config"
	"hearth/vault"
)

// served gives the API on a vault of its own.
func servedAPI(t *testing.T) (*api, *httptest.Server) {
	t.Helper()
	cfg, err := config.Load("", []string{"HOME=" + t.TempDir()}, config.Options{})
	if err != nil {
		t.Fatal(err)
	}
	log := newLogger(io.Discard, cfg)
	a := &api{service: bench(t), agent: &agent{log: log}, metrics: http.NotFoundHandler(), log: log.Logger}
	server := httptest.NewServer(a.handler())
	t.Cleanup(server.Close)
	return a, server
}

func request(t *testing.T, method, url, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	b, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(b)
}

func TestAPIAnswersAsTheCommandLineDoes(t *testing.T) {
	_, server := servedAPI(t)
	for _, c := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"POST", "/api/jobs/add", `{"when":"tomorrow at 9","text":"stretch"}`, 200, `{"text":"Reminder 1: Thu 2 Jul 2026, 09:00 (Europe/Lisbon): stretch","id":1}`},
		{"GET", "/api/jobs?person=ana", "", 200, `"next":"2026-07-02T09:00:00+01:00"`},
		{"GET", "/api/jobs?person=Nobody", "", 409, `{"error":"Nobody is called Nobody. Known are: Ana and Ben.","exit":1}`},
		{"GET", "/api/runs/show?id=x", "", 400, `{"error":"id is a number from 1 on, not \"x\".","exit":2}`},
		{"GET", "/api/runs?limit=0", "", 400, `limit is a number from 1 on`},
		{"GET", "/api/runs/show?id=7", "", 409, `There is no run 7`},
		{"POST", "/api/jobs/cancel", `{"id":1}`, 200, `Cancelled job 1: stretch`},
		{"POST", "/api/jobs/cancel", `{"number":1}`, 400, `The request is not the JSON object that is expected here.`},
		{"POST", "/api/jobs/cancel", `1`, 400, `The request is not the JSON object`},
		{"POST", "/api/jobs/cancel", `{"text":"` + strings.Repeat("x", maxBody) + `"}`, 400, `The request is not the JSON object`},
		{"POST", "/api/chat/ack", `{"talk":"none","part":1}`, 409, `There is no such chat any more`},
		{"POST", "/api/chat", `{"talk":"none","id":"1","text":"x"}`, 409, `There is no such chat any more`},
		{"GET", "/api/jobs/cancel", "", 405, ``},
		{"GET", "/api/nothing", "", 404, ``},
		{"GET", "/readyz", "", 503, ``},
	} {
		if status, body := request(t, c.method, server.URL+c.path, c.body); status != c.status || !strings.Contains(body, c.want) {
			t.Errorf("%s %s: %d %s", c.method, c.path, status, body)
		}
	}
}

// An error that is nobody's doing keeps its cause in the log and out of the answer's way.
func TestAPITellsAnExitCode(t *testing.T) {
	a, _ := servedAPI(t)
	for _, c := range []struct {
		err    error
		status int
		exit   int
	}{
		{&vault.DamagedError{Path: "vault.db", Err: errors.New("broken")}, 500, exitDamaged},
		{errors.New("no idea"), 500, exitFailed},
		{usage("So not."), 400, exitUsage},
	} {
		w := httptest.NewRecorder()
		a.refuse(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil), c.err)
		var said trouble
		if err := json.Unmarshal(w.Body.Bytes(), &said); err != nil || w.Code != c.status || said.Exit != c.exit || said.Error == "" {
			t.Errorf("%v: %d %+v, %v", c.err, w.Code, said, err)
		}
	}
}

func TestABackupThatBreaksOffIsNotTakenForAWholeOne(t *testing.T) {
	a, server := servedAPI(t)
	if err := a.service.vault.Close(); err != nil {
		t.Fatal(err)
	}
	c := &client{http: server.Client()}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/api/backup", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := c.http.Do(req)
	if err == nil {
		_, err = io.Copy(io.Discard, answer.Body)
		_ = answer.Body.Close()
	}
	if err == nil {
		t.Error("the client saw nothing of it")
	}
}
