package wafake

import (
	"fmt"
	"io"
	"net/http"
)

// Media: clients POST an encrypted blob to /mms/<kind>/<token> and later GET it back.

func (s *Server) serveUpload(w http.ResponseWriter, r *http.Request) {
	data, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	s.mu.Lock()
	s.blobs[r.URL.Path] = data
	s.mu.Unlock()
	fmt.Fprintf(w, `{"url":"https://mmg.whatsapp.net%[1]s?ccb=1","direct_path":"%[1]s?ccb=1"}`, r.URL.Path)
}

func (s *Server) serveDownload(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	data, ok := s.blobs[r.URL.Path]
	s.mu.Unlock()
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	_, _ = w.Write(data)
}

// ForgetMedia deletes all uploaded media, as the real service does after some weeks.
func (s *Server) ForgetMedia() {
	s.mu.Lock()
	clear(s.blobs)
	s.mu.Unlock()
}
