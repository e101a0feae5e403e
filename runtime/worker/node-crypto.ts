/**
 * Returns Node's own cryptography. It is loaded on first use, because loading takes a sixth of a worker's
 * start.
 */
export const nodeCrypto = (): typeof import('node:crypto') =>
  process.getBuiltinModule('node:crypto')
