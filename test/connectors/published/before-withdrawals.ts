/** How a host from before withdrawals reads an index and picks a version from it. */
import semver from 'semver'
import * as v from 'valibot'

const Text = (most: number) => v.pipe(v.string(), v.maxLength(most))
const Moment = v.pipe(v.string(), v.isoTimestamp())
const Sha256 = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/))

const Version = v.strictObject({
  version: v.pipe(
    Text(200),
    v.check((text) => /^\d\S*$/.test(text) && semver.valid(text) !== null),
  ),
  digest: Sha256,
  bytes: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
  runtime: Text(200),
  signed: v.boolean(),
  wants: v.pipe(
    v.array(v.strictObject({ kind: Text(50), subject: Text(2000), words: Text(4000) })),
    v.maxLength(1000),
  ),
})

const Index = v.strictObject({
  form: v.literal('keyway-index-1'),
  version: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
  published_at: Moment,
  expires_at: Moment,
  mirrors: v.optional(v.pipe(v.array(Text(500)), v.maxLength(10)), []),
  connectors: v.array(
    v.strictObject({
      id: Text(63),
      name: Text(200),
      description: Text(2000),
      logo: v.nullable(v.strictObject({ kind: v.picklist(['svg', 'png']), sha256: Sha256 })),
      versions: v.pipe(v.array(Version), v.minLength(1), v.maxLength(500)),
    }),
  ),
})

/** @returns the version that an install takes; throws if it refuses it */
export function takenBefore(text: string, id: string, range: string): string {
  const index = v.parse(Index, JSON.parse(text))
  const versions = index.connectors.find((one) => one.id === id)?.versions ?? []
  const fitting = versions.filter(({ version }) => semver.satisfies(version, range))
  const runs = ({ runtime }: { runtime: string }) =>
    semver.validRange(runtime) !== null && semver.satisfies('1.0.0', runtime)
  const found = fitting.filter(runs).sort((a, b) => semver.compareBuild(b.version, a.version))[0]
  if (found) return found.version
  throw new Error(`${id} ${fitting[0]?.version} needs the runtime ${fitting[0]?.runtime}`)
}
