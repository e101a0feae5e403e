/**
 * Reads an untrusted package. Everything is bounded. Only plain files with the names of a package are
 * accepted, each with its digest in `digests.json`. Nothing is written to disk.
 */
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { createGunzip } from 'node:zlib'
import { createTarDecoder, type ParsedTarEntry } from 'modern-tar'
import * as v from 'valibot'
import { inSlices } from '../../bounded/slices.ts'
import { codeOf, messageOf } from '../../contract/errors/thrown.ts'
import { placeOfIssue } from '../../contract/schema/place.ts'
import {
  DIGESTS,
  Digests,
  FORMAT,
  MAX_DIGESTS_BYTES,
  MAX_PACKED_BYTES,
  MAX_UNPACKED_BYTES,
  PARTS,
  type Package,
  PackageError,
  partOf,
  sha256,
} from './format.ts'

/** Maximum number of entries that are read. A package has eight. */
const MAX_ENTRIES = 16

/**
 * Reads a whole package.
 *
 * @throws PackageError
 */
export async function readPackage(packed: Buffer): Promise<Package> {
  if (packed.length > MAX_PACKED_BYTES)
    throw new PackageError(`it has ${packed.length} bytes, at most ${MAX_PACKED_BYTES} are allowed`)
  const found = new Map<string, Buffer>()
  try {
    for await (const entry of entriesOf(packed)) {
      const name = nameOf(entry, found)
      found.set(name, await bodyOf(entry, name))
    }
  } catch (error) {
    throw translated(error)
  }
  return inSlices(checked(found))
}

async function* entriesOf(packed: Buffer): AsyncGenerator<ParsedTarEntry> {
  const gunzip = createGunzip({ maxOutputLength: MAX_UNPACKED_BYTES })
  let unpacked = 0
  const bounded = async function* (): AsyncGenerator<Uint8Array> {
    for await (const chunk of Readable.from([packed]).pipe(gunzip)) {
      unpacked += chunk.length
      if (unpacked > MAX_UNPACKED_BYTES)
        throw new PackageError(`it holds more than ${MAX_UNPACKED_BYTES} bytes`)
      yield chunk
    }
    // Data after the end would be stored, and no digest covers it.
    if (gunzip.bytesWritten !== packed.length)
      throw new PackageError('it has data behind its end; pack it again')
  }
  let entries = 0
  const web: ReadableStream<Uint8Array> = ReadableStream.from(bounded())
  try {
    for await (const entry of web.pipeThrough(createTarDecoder({ strict: true }))) {
      entries += 1
      if (entries > MAX_ENTRIES) throw new PackageError(`it holds more than ${MAX_ENTRIES} entries`)
      yield entry
    }
  } finally {
    gunzip.destroy()
  }
}

/** Returns the name of an allowed entry: a plain file with a known name, which occurs once. */
function nameOf({ header }: ParsedTarEntry, found: ReadonlyMap<string, Buffer>): string {
  const { name, type } = header
  const shown = JSON.stringify(name.slice(0, 100))
  if (type !== 'file') throw new PackageError(`it holds ${shown}, which is no plain file`)
  if (name !== DIGESTS && partOf(name) === null)
    throw new PackageError(
      `it holds ${shown}; a package holds ${[DIGESTS, ...Object.keys(PARTS)].join(', ')} and a logo`,
    )
  if (found.has(name)) throw new PackageError(`it holds ${shown} twice`)
  if (found.size === 0 && name !== DIGESTS)
    throw new PackageError(`it begins with ${shown}; the first must be ${DIGESTS}`)
  return name
}

async function bodyOf({ header, body }: ParsedTarEntry, name: string): Promise<Buffer> {
  const most = partOf(name)?.maxBytes ?? MAX_DIGESTS_BYTES
  if (header.size > most)
    throw new PackageError(`${name} has ${header.size} bytes, at most ${most} are allowed`)
  return buffer(body)
}

function* checked(found: Map<string, Buffer>): Generator<void, Package> {
  const text = found.get(DIGESTS)
  if (text === undefined) throw new PackageError('it is empty')
  found.delete(DIGESTS)
  const digestsText = text.toString('utf8')
  const digests = parseDigests(digestsText)
  const files = found
  for (const [name, { required }] of Object.entries(PARTS))
    if (required && !files.has(name)) throw new PackageError(`${name} is missing`)
  const named = Object.keys(digests.files)
  const missing = named.find((name) => !files.has(name))
  if (missing) throw new PackageError(`${missing} is missing, though ${DIGESTS} names it`)
  for (const [name, content] of files) {
    if (!Object.hasOwn(digests.files, name))
      throw new PackageError(`${DIGESTS} does not name ${name}`)
    yield
    if (digests.files[name] !== sha256(content))
      throw new PackageError(`${name} is not what ${DIGESTS} says: it was changed`)
  }
  return { digest: sha256(digestsText), digestsText, digests, files }
}

function parseDigests(text: string): Digests {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new PackageError(`${DIGESTS} is not JSON`)
  }
  const form = v.safeParse(v.object({ format: v.number() }), value)
  if (form.success && form.output.format > FORMAT)
    throw new PackageError('it was made by a newer version of Keyway; install it with that one')
  const parsed = v.safeParse(Digests, value)
  if (parsed.success) return parsed.output
  const [issue] = parsed.issues
  throw new PackageError(`${DIGESTS}: ${placeOfIssue(issue) || 'it'} is wrong: ${issue.message}`)
}

/** Translates the messages of gzip and tar. */
function translated(error: unknown): unknown {
  if (error instanceof PackageError) return error
  const code = codeOf(error)
  const message = messageOf(error)
  if (code === 'ERR_BUFFER_TOO_LARGE')
    return new PackageError(`it holds more than ${MAX_UNPACKED_BYTES} bytes`)
  return new PackageError(`it is no package: ${message}`)
}
