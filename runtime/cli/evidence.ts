/** `keyway review evidence` and `keyway review verify`. */
import { createPublicKey } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { readFile, rename, rm, stat } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { ConfigError } from '../config/config.ts'
import { messageOf } from '../contract/errors/thrown.ts'
import { EvidenceError } from '../core/reviews/evidence/read.ts'
import { type Verified, verifyEvidence } from '../core/reviews/evidence/verify.ts'
import { visible } from '../observe/visible.ts'
import { fingerprintOf, publicKeyDigits } from '../secrets/signing-key.ts'
import { ask, print } from './operator/change.ts'
import { downloadOperator, findOperator, RefusedError } from './operator/client.ts'
import { readReview } from './operator/reviews.ts'
import { counted } from './terminal/counted.ts'
import { fileFault, isFileFault } from './terminal/file-fault.ts'
import type { ReadFlags } from './terminal/options.ts'

type EvidenceFlags = ReadFlags & { out?: string; force?: true; dryRun?: true }

/** How long a file may take to come, in milliseconds. */
const PATIENCE_MS = 3_600_000
/** Bytes that are read at once. */
const READ = 256 * 1024

/** Takes evidence into a file, under its name only once it is whole. */
export async function evidence(id: string, flags: EvidenceFlags): Promise<void> {
  const review = await readReview(flags, id)
  const file = flags.out ?? `keyway-review-${review.id}.jsonl`
  if (!flags.force && (await isThere(file)))
    throw new ConfigError(`${file} is there already; name another by --out, or --force replaces it`)
  if (flags.dryRun) {
    const answer = { file, review: review.id, status: review.status }
    return print(flags, answer, () => `${file} would be written: ${review.name}, ${review.status}`)
  }
  const target = await findOperator(process.env, flags.url)
  const part = `${file}.part`
  const call = { method: 'GET' as const, path: `/access_reviews/${review.id}/evidence` }
  try {
    await inWords(part, () =>
      downloadOperator(target, { ...call, patienceMs: PATIENCE_MS }, (pieces) =>
        pipeline(pieces, createWriteStream(part, { mode: 0o600 })),
      ),
    )
    const path = '/.well-known/keyway-evidence-keys'
    const { keys } = await ask<{ keys: { fingerprint: string }[] }>(flags, { method: 'GET', path })
    const verified = await checked(part, keys[0]?.fingerprint ?? '')
    await rename(part, file)
    print(flags, { file, ...shown(verified) }, () =>
      [
        `Wrote ${file}:`,
        ...words(verified),
        'Tell those who verify it this fingerprint, by another way than the file:',
        `  ${fingerprintOf(verified.public_key)}`,
      ].join('\n'),
    )
  } finally {
    await rm(part, { force: true })
  }
}

type VerifyFlags = { key: string; json?: true }

/** Says whether a file is good; exits with 1 where it is not. */
export async function verify(file: string, flags: VerifyFlags): Promise<void> {
  const verified = await checked(file, await keyOf(flags.key))
  print(flags, { file, ...shown(verified) }, () =>
    [
      `${file} is good:`,
      ...words(verified),
      `  signed by the key ${fingerprintOf(verified.public_key)}`,
    ].join('\n'),
  )
}

/** @throws RefusedError for a file that is refused */
async function checked(file: string, key: string): Promise<Verified> {
  try {
    return await inWords(file, () =>
      verifyEvidence(createReadStream(file, { highWaterMark: READ }), key),
    )
  } catch (error) {
    if (!(error instanceof EvidenceError)) throw error
    throw new RefusedError(visible(`${file} is refused: ${error.message}`), {
      file,
      refused: error.message,
    })
  }
}

async function inWords<T>(file: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    if (isFileFault(error))
      throw fileFault(file, error, 'name a file that keyway review evidence wrote')
    throw error
  }
}

const isThere = (file: string): Promise<boolean> =>
  stat(file).then(
    () => true,
    () => false,
  )

/** A fingerprint or a key as digits, or the key of a PEM file. */
async function keyOf(given: string): Promise<string> {
  if (/^[0-9a-f]{64}$/i.test(given)) return given.toLowerCase()
  const pem = await readFile(given, 'utf8').catch((error) => {
    throw fileFault(given, error, '--key takes 64 hex digits, or a file with a public key')
  })
  try {
    const key = createPublicKey(pem)
    if (key.asymmetricKeyType === 'ed25519') return publicKeyDigits(key)
  } catch (cause) {
    throw new ConfigError(`--key: ${given} is no public key in PEM: ${messageOf(cause)}`)
  }
  throw new ConfigError(`--key: ${given} is no Ed25519 key, which evidence is signed with`)
}

const shown = (verified: Verified) => ({
  ...verified,
  fingerprint: fingerprintOf(verified.public_key),
})

function words({ review, ...said }: Verified): string[] {
  const states = Object.entries(said.states).map(([state, count]) => `${count} ${state}`)
  return [
    `  ${review.name} (${review.id}), ${review.status}, at ${said.taken_at}`,
    `  ${counted(said.items, 'line')} of ${counted(said.apps, 'app')}: ${states.join(', ') || 'none'}`,
    `  ${counted(said.acts, 'act')} of decision; entries of the activity log: ${said.log_entries}`,
    ...(said.uploads > 0 ? [`  ${counted(said.uploads, 'attached file')}`] : []),
    ...(said.final ? [] : ['  The review was not over: decisions and removals may have followed.']),
    ...(said.not_chained > 0
      ? [`  ${said.not_chained} of the entries were not chained to the log yet.`]
      : []),
    ...(said.redacted > 0
      ? [`  Names of erased persons were taken out of ${said.redacted} of the entries.`]
      : []),
    ...(said.log_gap === null ? [] : [`  ${said.log_gap}`]),
  ]
}
