package deployment

// SyncWith replaces the function that writes the names of a folder's files to the disk.
func (s *Service) SyncWith(sync func(folder string) error) { s.sync = sync }
