/** Returns the keys that sign evidence, in their wire format. */
import type { Signer } from '../../../secrets/signing-key.ts'

export const evidenceKeys = ({ keys }: Signer) => ({
  keys: keys.map(({ publicKey, fingerprint }) => ({ public_key: publicKey, fingerprint })),
})
