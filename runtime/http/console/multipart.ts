/** Forms with files. They are read as a whole, within bounds, and need no script in the page. */
import type { Context } from 'hono'
import { badRequest, CoreError } from '../../contract/errors/problem.ts'
import type { Env } from '../edge/env.ts'
import type { Form } from '../frame/form.ts'
import { bytesByDisk } from '../operator/package-upload.ts'

/** Allowance for text fields in addition to the files, in bytes. */
const TEXT_BYTES = 64 * 1024
/** Maximum number of parts. Even a small part takes memory of its own. */
const MAX_PARTS = 50

export type Files = ReadonlyMap<string, File>

/**
 * Reads a form with files. Empty file fields are omitted.
 *
 * @throws CoreError `bad_request`, `unsupported_media_type`; RuntimeError `body_too_large`
 */
export async function readMultipart(
  c: Context<Env>,
  dataDir: string,
  maxFileBytes: number,
): Promise<{ form: Form; files: Files }> {
  const type = c.req.header('content-type') ?? ''
  const boundary = /^multipart\/form-data\s*;.*\bboundary="?([^";]{1,70})"?/i.exec(type)?.[1]
  if (boundary === undefined)
    throw new CoreError('unsupported_media_type', 'Send the form of the page')
  const bytes = await bytesByDisk(c, dataDir, maxFileBytes + TEXT_BYTES)
  if (countOf(bytes, `--${boundary}`) > MAX_PARTS)
    throw badRequest(`The form has more than ${MAX_PARTS} parts`)
  const read = await new Response(new Uint8Array(bytes), { headers: { 'content-type': type } })
    .formData()
    .catch((cause: unknown) => {
      throw new CoreError(
        'bad_request',
        'The form cannot be read; send the form that the page has',
        { cause },
      )
    })
  const all = [...read]
  return {
    form: new Map(all.filter((pair): pair is [string, string] => typeof pair[1] === 'string')),
    files: new Map(
      all.filter((pair): pair is [string, File] => pair[1] instanceof File && pair[1].size > 0),
    ),
  }
}

/** Counts the occurrences of a text in bytes, up to just above the maximum number of parts. */
function countOf(bytes: Buffer, part: string): number {
  let count = 0
  for (let at = bytes.indexOf(part); at >= 0 && count <= MAX_PARTS; count += 1)
    at = bytes.indexOf(part, at + part.length)
  return count
}
