/** Ids as bytes, as rows of a sync contain them. */
export const idBytes = (ids: readonly string[]): Buffer =>
  Buffer.from(ids.join('').replaceAll('-', ''), 'hex')
