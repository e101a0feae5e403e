/**
 * Format of a published registry: a folder with `index.json`, its signature, packages and logos, which any
 * web server can serve. File names are derived from ids, versions and digests, so an index cannot name a file
 * outside the folder.
 */
import semver from 'semver'
import * as v from 'valibot'
import { ConnectorId, normalizeId } from '../../contract/connector/manifest.ts'
import { placeOfIssue } from '../../contract/schema/place.ts'
import { MAX_PACKED_BYTES, PackageError } from '../packages/format.ts'
import { type KnownPublisher, trustOfText } from '../packages/sign.ts'
import { faultOfMarks, readMarks, writtenMarks } from './withdrawn.ts'

export const INDEX_FORM = 'keyway-index-1'
export const INDEX_FILE = 'index.json'
export const INDEX_SIGNATURE = 'index.json.sig'

/** Maximum sizes of index and signature in bytes, and maximum lengths of its lists. */
export const MAX_INDEX_BYTES = 4 * 1024 * 1024
export const MAX_INDEX_SIGNATURE_BYTES = 4096
const MAX_CONNECTORS = 2000
const MAX_VERSIONS = 500
const MAX_WANTS = 1000
const MAX_MIRRORS = 10

const Text = (most: number) => v.pipe(v.string(), v.maxLength(most))
const Moment = v.pipe(v.string(), v.isoTimestamp())
const Sha256 = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/))

const areDifferent = (texts: readonly string[]): boolean => new Set(texts).size === texts.length

const WrittenVersion = v.strictObject({
  version: v.pipe(
    Text(200),
    // The spelling of connector.json, since a second spelling would be a second version.
    v.check(
      (text) => /^\d\S*$/.test(text) && semver.valid(text) !== null,
      'write a version such as 1.2.0',
    ),
  ),
  /** Digest of the package, which is signed, installed and routed to. */
  digest: Sha256,
  /** Size of the file in bytes. */
  bytes: v.pipe(v.number(), v.safeInteger(), v.minValue(1), v.maxValue(MAX_PACKED_BYTES)),
  /** Runtime range. */
  runtime: Text(200),
  /** Whether the package has its own signature file. */
  signed: v.boolean(),
  wants: v.pipe(
    v.array(v.strictObject({ kind: Text(50), subject: Text(2000), words: Text(4000) })),
    v.maxLength(MAX_WANTS),
  ),
})
/** `withdrawn` is set only on withdrawn versions. */
const Version = v.pipe(
  WrittenVersion,
  v.rawCheck(({ dataset, addIssue }) => {
    const fault = dataset.typed ? faultOfMarks(dataset.value) : null
    if (fault !== null) addIssue({ message: fault })
  }),
  v.transform(readMarks),
)
export type PublishedVersion = v.InferOutput<typeof Version>

const Connector = v.strictObject({
  id: ConnectorId,
  /** Of the newest version. */
  name: Text(200),
  description: Text(2000),
  logo: v.nullable(v.strictObject({ kind: v.picklist(['svg', 'png']), sha256: Sha256 })),
  versions: v.pipe(
    v.array(Version),
    v.minLength(1),
    v.maxLength(MAX_VERSIONS, `a connector has ${MAX_VERSIONS} versions at most`),
    v.check((all) => areDifferent(all.map(({ version }) => version)), 'it lists a version twice'),
  ),
})
export type PublishedConnector = v.InferOutput<typeof Connector>

export const PublishedIndex = v.strictObject({
  form: v.literal(INDEX_FORM),
  /** Increases with each publication, so that an older index is never accepted as newer. */
  version: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
  published_at: Moment,
  expires_at: Moment,
  /** Addresses of other web servers with the same files. */
  mirrors: v.optional(
    v.pipe(
      v.array(Text(500)),
      v.maxLength(MAX_MIRRORS, `an index names ${MAX_MIRRORS} mirrors at most`),
    ),
    [],
  ),
  connectors: v.pipe(
    v.array(Connector),
    v.maxLength(MAX_CONNECTORS, `an index lists ${MAX_CONNECTORS} connectors at most`),
    v.check((all) => areDifferent(all.map(({ id }) => normalizeId(id))), 'it lists one twice'),
  ),
})
export type PublishedIndex = v.InferOutput<typeof PublishedIndex>

/** Path of the package of a version. */
export const packageFile = (id: string, { version, digest }: PublishedVersion): string =>
  `packages/${id}-${version.replace(/[^0-9A-Za-z.-]/g, '_')}-${digest.slice(0, 12)}.tgz`

/** Path of a connector's logo; null if it has none. */
export const logoFile = ({ id, logo }: Pick<PublishedConnector, 'id' | 'logo'>): string | null =>
  logo === null ? null : `logos/${id}-${logo.sha256.slice(0, 12)}.${logo.kind}`

/** A verified index and its publisher. */
export type SignedIndex = { index: PublishedIndex; key: string; publisher: string }

/**
 * Reads an untrusted index. It is accepted only if a trusted key has signed it.
 *
 * @throws PackageError that says what to do
 */
export function readIndex(
  text: string,
  signature: string,
  publishers: readonly KnownPublisher[],
): SignedIndex {
  if (!/^\s*[[{]/.test(text))
    throw new PackageError(
      `this is no index of a registry (it begins with ${JSON.stringify(text.slice(0, 20))}); check the address: a proxy or a page to sign in may answer for it`,
    )
  const trust = trustOfText(INDEX_FORM, text, signature, publishers)
  if (trust.state === 'invalid')
    throw new PackageError(
      `the index is not to be trusted: ${trust.why}; ${
        trust.isRevoked === true
          ? 'its publisher must sign it by a key that you trust'
          : 'where it is just being published, try again in a moment, else use another mirror'
      }`,
    )
  if (trust.state === 'untrusted')
    throw new PackageError(
      `the index is signed by the key ${trust.key ?? 'of nobody'}, which is not trusted; ask its publisher for the public key, then: keyway trust KEY.pub --name PUBLISHER`,
    )
  return { index: parseIndex(text), key: trust.key, publisher: trust.publisher }
}

/** Returns the text of an index as it is signed. */
export function textOfIndex(index: PublishedIndex): string {
  const connectors = index.connectors.map(({ versions, ...one }) => ({
    ...one,
    versions: versions.map((version) => writtenMarks(version, MAX_WANTS)),
  }))
  return `${JSON.stringify({ ...index, connectors }, null, 1)}\n`
}

/** Parses an index. @throws PackageError */
export function parseIndex(text: string): PublishedIndex {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new PackageError('the index is not JSON')
  }
  const form = v.safeParse(v.object({ form: v.string() }), value)
  if (form.success && form.output.form !== INDEX_FORM)
    throw new PackageError(
      `the index has the form ${JSON.stringify(form.output.form.slice(0, 50))}; this version of Keyway reads ${INDEX_FORM}`,
    )
  const parsed = v.safeParse(PublishedIndex, value, { abortEarly: true })
  if (parsed.success) return parsed.output
  const [issue] = parsed.issues
  throw new PackageError(`the index: ${placeOfIssue(issue) || 'it'} is wrong: ${issue.message}`)
}
