/** Ids as the bytes that rows of a sync have them in. */
export const idBytes = (ids: readonly string[]): Buffer =>
  Buffer.from(ids.join('').replaceAll('-', ''), 'hex')
