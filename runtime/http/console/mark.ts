/** What stands for all that a form says: a preview is of this and of no other. */
import { createHash } from 'node:crypto'

/** Short enough for a hidden field; it proves nothing of who made it. */
export const digestMark = (said: unknown): string =>
  createHash('sha256').update(JSON.stringify(said)).digest('base64url').slice(0, 22)
