/** Files that people attach to an access review: they stand in its evidence. Ours. */
import * as v from 'valibot'
import { described, maybe, strictObject } from '../schema/schemas.ts'
import { listOf } from './reference.ts'

/** Largest file, in bytes: the body with it stays below that of the core interface. */
export const MAX_FILE_BYTES = 720_000
/** The same in characters of base64. */
const MAX_CONTENT = (MAX_FILE_BYTES / 3) * 4
/** Most lines that one file may name. */
const MAX_ITEMS = 100

export const AccessReviewUpload = strictObject(
  'AccessReviewUpload',
  'A file that is part of the evidence',
  {
    id: v.string(),
    arda_id: described(v.string(), 'The app within the review'),
    item_ids: described(v.array(v.string()), 'Lines that it is about; none: all of the app'),
    name: v.string(),
    media_type: v.string(),
    bytes: v.number(),
    sha256: described(v.string(), 'Of its content, 64 hex digits'),
    by_id: v.string(),
    created_at: v.string(),
  },
)

export const AccessReviewUploadInput = strictObject('AccessReviewUploadInput', {
  item_ids: maybe(described(listOf(v.string(), MAX_ITEMS), 'Lines of one app that it is about')),
  arda_id: maybe(described(v.string(), 'In place of lines: all of this app within the review')),
  name: described(
    v.pipe(
      v.string(),
      v.check((text) => text.trim() !== '', 'must not be empty'),
      v.maxLength(200),
    ),
    'What the file is called',
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
    'The file in base64, 720 kB of it at most',
  ),
})
export type AccessReviewUploadInput = v.InferOutput<typeof AccessReviewUploadInput>
