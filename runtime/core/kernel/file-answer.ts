/** An answer that is a file, sent while it is made. */
import * as v from 'valibot'

export const FileAnswer = v.object({
  /** The name that a browser gives it. */
  name: v.string(),
  /** Its media type. */
  media: v.string(),
  body: v.instance(ReadableStream<Uint8Array>),
})
export type FileAnswer = v.InferOutput<typeof FileAnswer>
