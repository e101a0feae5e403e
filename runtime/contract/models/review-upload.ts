/** Files that people attach to an access review. They become part of its evidence. Keyway's own. */
import * as v from 'valibot'
import { described, maybe, strictObject } from '../schema/schemas.ts'
import { listOf } from './reference.ts'

/** Maximum size of a file, in bytes. A body with it stays within the limit of the core interface. */
export const MAX_FILE_BYTES = 720_000
/** The same size in characters of base64. */
const MAX_CONTENT = (MAX_FILE_BYTES / 3) * 4
/** Maximum number of lines that one file may list. */
const MAX_ITEMS = 100

export const AccessReviewUpload = strictObject(
  'AccessReviewUpload',
  'A file that is part of the evidence',
  {
    id: v.string(),
    arda_id: described(v.string(), 'Id of the app within the review'),
    item_ids: described(v.array(v.string()), 'Lines that it concerns; empty: the whole app'),
    name: v.string(),
    media_type: v.string(),
    bytes: v.number(),
    sha256: described(v.string(), 'SHA-256 of its content, 64 hex digits'),
    by_id: v.string(),
    created_at: v.string(),
  },
)

export const AccessReviewUploadInput = strictObject('AccessReviewUploadInput', {
  item_ids: maybe(described(listOf(v.string(), MAX_ITEMS), 'Lines of one app that it concerns')),
  arda_id: maybe(described(v.string(), 'Instead of lines: the whole app within the review')),
  name: described(
    v.pipe(
      v.string(),
      v.check((text) => text.trim() !== '', 'must not be empty'),
      v.maxLength(200),
    ),
    'Name of the file',
  ),
  media_type: v.nullish(
    v.pipe(v.string(), v.maxLength(100), v.regex(/^[\w.+-]+\/[\w.+-]+$/, 'must be like image/png')),
    'application/octet-stream',
  ),
  content: described(
    v.pipe(
      v.string(),
      v.minLength(4),
      v.maxLength(MAX_CONTENT),
      v.regex(/^[A-Za-z0-9+/]+={0,2}$/, 'must be base64'),
      v.check((text) => text.length % 4 === 0, 'must be base64'),
    ),
    'The file in base64; at most 720 kB before encoding',
  ),
})
export type AccessReviewUploadInput = v.InferOutput<typeof AccessReviewUploadInput>
