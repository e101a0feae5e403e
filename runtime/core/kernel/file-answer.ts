/** A response that is a file, streamed while it is generated. */
import * as v from 'valibot'

export const FileAnswer = v.object({
  /** File name for browsers. */
  name: v.string(),
  /** Media type. */
  media: v.string(),
  body: v.instance(ReadableStream<Uint8Array>),
})
export type FileAnswer = v.InferOutput<typeof FileAnswer>
