/** The keys that evidence is signed with, as on the wire. */
import type { Signer } from '../../../secrets/signing-key.ts'

export const evidenceKeys = ({ keys }: Signer) => ({
  keys: keys.map(({ publicKey, fingerprint }) => ({ public_key: publicKey, fingerprint })),
})
