package secret

import "crypto/ed25519"

// CheckpointKeys returns the Ed25519 keys that sign checkpoints, one for each line of an evidence
// keyring. The current line comes first. The seed of a key is derived from its line.
func (k *Keyring) CheckpointKeys() []ed25519.PrivateKey {
	l := k.lines.Load()
	out := make([]ed25519.PrivateKey, 1, len(l.ids))
	for _, keyID := range l.ids {
		seed, _ := l.derive(keyID, "checkpoint")
		if key := ed25519.NewKeyFromSeed(seed); keyID == l.use.Current {
			out[0] = key
		} else {
			out = append(out, key)
		}
	}
	return out
}
