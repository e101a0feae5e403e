/** Node's own cryptography, loaded when it is first asked for: that takes a sixth of the start of a worker. */
export const nodeCrypto = (): typeof import('node:crypto') =>
  process.getBuiltinModule('node:crypto')
