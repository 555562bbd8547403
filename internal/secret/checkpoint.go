package secret

import "crypto/ed25519"

// CheckpointKeys returns the Ed25519 keys that sign checkpoints, one for each line of an evidence
// keyring, in the order of the lines. The seed of a key is derived from its line.
func (k *Keyring) CheckpointKeys() []ed25519.PrivateKey {
	out := make([]ed25519.PrivateKey, len(k.ids))
	for i, keyID := range k.ids {
		seed, _ := k.derive(keyID, "checkpoint")
		out[i] = ed25519.NewKeyFromSeed(seed)
	}
	return out
}
