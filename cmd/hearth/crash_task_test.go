package main

import (
	"fmt"
	"sync/atomic"
	"testing"
)

// A task of ten steps, with facts, files, a reminder, and a message to somebody else that is asked about first, is crashed
// at every point there is: before and after every commit, send, model call and tool effect, and again in the life after
// that. What it asked for has happened once, and is told.
func TestTortureCrashedAtEveryPointOfATask(t *testing.T) {
	stride := int64(20) // the points that are tried; with 1000 rounds or more, all of them
	if *tortureRounds >= 1000 {
		stride = 1
	}
	for _, twice := range []bool{false, true} {
		t.Run(map[bool]string{false: "once", true: "twice"}[twice], func(t *testing.T) {
			var next, tried atomic.Int64
			var over atomic.Bool
			next.Store(1 - stride)
			t.Run("points", func(t *testing.T) {
				for worker := range 4 {
					t.Run(fmt.Sprint(worker), func(t *testing.T) {
						t.Parallel()
						for !over.Load() && !t.Failed() {
							n := next.Add(stride)
							if !crashedAt(t, n, twice) {
								over.Store(true)
								return
							}
							tried.Add(1)
						}
					})
				}
			})
			t.Logf("%d crashes, every %d. point", tried.Load(), stride)
			if tried.Load()*stride < 60 {
				t.Errorf("only %d points: the test tested nothing", tried.Load())
			}
		})
	}
}

// crashedAt has the program die at its n-th point, and reports whether the task was not over before.
func crashedAt(t *testing.T, n int64, twice bool) (died bool) {
	ok := t.Run(fmt.Sprint("point ", n), func(t *testing.T) {
		w := newOrdeal(t, "crashpoints", 1)
		lives := []int64{n}
		if twice {
			lives = append(lives, 1+n*7%97) // wherever that falls in the second life
		}
		worked := make(chan struct{})
		mended := make(chan struct{})
		w.say(0)
		go func() {
			defer close(mended)
			for i, at := range lives {
				p := w.h.begin([]string{fmt.Sprintf("%s=any:%d", crashVariable, at)}, "run")
				select {
				case <-p.ended:
					died = died || i == 0
				case <-worked: // it finished before, and could still die while it is looked at
					p.kill()
				}
			}
			w.h.daemon()
		}()
		w.finish()
		close(worked)
		<-mended
		w.judge()
	})
	return ok && died
}
