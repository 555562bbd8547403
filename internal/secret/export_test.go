package secret

// SyncFolder is syncFolder.
var SyncFolder = syncFolder
