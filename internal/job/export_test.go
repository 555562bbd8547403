package job

// HasNews reports whether the worker's next round reads the job list.
func (w *Worker) HasNews() bool { return w.news.Load() }
