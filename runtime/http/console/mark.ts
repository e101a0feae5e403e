/** Digest of a form's content. It ties a preview to exactly this content. */
import { createHash } from 'node:crypto'

/** Returns a digest that is short enough for a hidden field. It does not authenticate its author. */
export const digestMark = (said: unknown): string =>
  createHash('sha256').update(JSON.stringify(said)).digest('base64url').slice(0, 22)
