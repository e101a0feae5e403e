/** Evidence of reviews, offboardings and a person's access: downloads it to a file, and verifies it. */
import { createPublicKey } from 'node:crypto'
import { createReadStream, createWriteStream, existsSync } from 'node:fs'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { ConfigError } from '../config/config.ts'
import { messageOf } from '../contract/errors/thrown.ts'
import type { UserOffboardingOutput } from '../contract/models/user-offboarding.ts'
import { EvidenceError } from '../core/reviews/evidence/read.ts'
import { type Verified, verifyEvidence } from '../core/reviews/evidence/verify.ts'
import { visible } from '../observe/visible.ts'
import { fingerprintOf, publicKeyDigits } from '../secrets/signing-key.ts'
import { ask, print } from './operator/change.ts'
import { downloadOperator, findOperator, RefusedError } from './operator/client.ts'
import { findPerson } from './operator/known.ts'
import { readReview } from './operator/reviews.ts'
import { counted } from './terminal/counted.ts'
import { fileFault, isFileFault } from './terminal/file-fault.ts'
import { inLines } from './terminal/join-lines.ts'
import type { ReadFlags } from './terminal/options.ts'

type EvidenceFlags = ReadFlags & { out?: string; page?: string; force?: true; dryRun?: true }

/** Maximum time to download a file, in milliseconds. */
const PATIENCE_MS = 3_600_000
/** Number of bytes read at once. */
const READ = 256 * 1024

/** Downloads evidence of a review. */
export async function evidence(id: string, flags: EvidenceFlags): Promise<void> {
  const review = await readReview(flags, id)
  const path = `/access_reviews/${review.id}/evidence`
  const would = { name: review.name, status: review.status, answer: { review: review.id } }
  await taken(flags, `keyway-review-${review.id}.jsonl`, path, would)
}

/** Downloads evidence of what a person held, or of an offboarding. */
export async function personEvidence(
  email: string | undefined,
  flags: EvidenceFlags & { asOf?: string; offboarding?: string },
): Promise<void> {
  const { offboarding, asOf } = flags
  if ((email === undefined) === (offboarding === undefined) || (offboarding && asOf))
    throw new ConfigError('Name a person by e-mail address, or an offboarding with --offboarding')
  if (offboarding !== undefined) await offboardingEvidence(offboarding, flags)
  if (email !== undefined) await accessEvidence(email, flags)
}

async function offboardingEvidence(id: string, flags: EvidenceFlags): Promise<void> {
  const path = `/lifecycle-management/user-offboardings/${encodeURIComponent(id)}`
  const found = await ask<UserOffboardingOutput>(flags, path)
  const would = {
    ...{ name: `the offboarding of ${found.user_id}`, status: found.status },
    answer: { offboarding: found.id },
  }
  await taken(flags, `keyway-offboarding-${found.id}.jsonl`, `${path}/evidence`, would)
}

async function accessEvidence(
  email: string,
  flags: EvidenceFlags & { asOf?: string },
): Promise<void> {
  const user = await findPerson(flags, email)
  const query = flags.asOf === undefined ? '' : `?as_of=${encodeURIComponent(flags.asOf)}`
  const path = `/users/${user.id}/access/evidence${query}`
  const would = { name: user.email, status: user.status, answer: { user: user.id } }
  await taken(flags, `keyway-access-${user.id}.jsonl`, path, would)
}

/** Downloads evidence to a file, which gets its name only after it is complete and verified. */
async function taken(
  flags: EvidenceFlags,
  usual: string,
  path: string,
  would: { name: string; status: string; answer: Record<string, string> },
): Promise<void> {
  const file = flags.out ?? usual
  for (const one of [file, flags.page])
    if (one !== undefined && !flags.force && existsSync(one))
      throw new ConfigError(
        `${one} already exists; name another with --out, or use --force to replace it`,
      )
  const { name, status, answer } = would
  if (flags.dryRun)
    return print(
      flags,
      { file, ...answer, status },
      () => `${file} would be written: ${name}, ${status}`,
    )
  const target = await findOperator(process.env, flags.url)
  const part = `${file}.part`
  const call = { method: 'GET' as const, path }
  try {
    await inWords(part, () =>
      downloadOperator(target, { ...call, patienceMs: PATIENCE_MS }, (pieces) =>
        pipeline(pieces, createWriteStream(part, { mode: 0o600 })),
      ),
    )
    const { keys } = await ask<{ keys: { fingerprint: string }[] }>(
      flags,
      '/.well-known/keyway-evidence-keys',
    )
    // Any of the keys: another host may have answered, which has the same secrets in a different order during
    // a rotation.
    const trusted = keys.map(({ fingerprint }) => fingerprint)
    const verified = await checked(part, trusted, flags.page)
    await rename(part, file)
    print(flags, { file, ...shown(verified) }, () =>
      [
        `Wrote ${file}:`,
        words(verified),
        'Give this fingerprint to those who verify the file, through another channel:',
        `  ${fingerprintOf(verified.public_key)}`,
      ].join('\n'),
    )
  } finally {
    await rm(part, { force: true })
  }
}

type VerifyFlags = { key: string; page?: string; json?: true }

/** Verifies a file and prints the result. Sets exit code 1 if it is refused. */
export async function verify(file: string, flags: VerifyFlags): Promise<void> {
  if (flags.page !== undefined && existsSync(flags.page))
    throw new ConfigError(`${flags.page} already exists; name another with --page`)
  const verified = await checked(file, await keyOf(flags.key), flags.page)
  print(flags, { file, ...shown(verified) }, () =>
    [
      `${file} is valid:`,
      words(verified),
      `  signed by the key ${fingerprintOf(verified.public_key)}`,
    ].join('\n'),
  )
}

/**
 * Verifies a file, and writes its page if requested.
 *
 * @throws RefusedError if the file is refused
 */
async function checked(
  file: string,
  key: string | readonly string[],
  page?: string,
): Promise<Verified> {
  const parts: string[] = []
  try {
    const verified = await inWords(file, () =>
      verifyEvidence(createReadStream(file, { highWaterMark: READ }), key, (html) => {
        if (page !== undefined) parts.push(html)
      }),
    )
    if (page === undefined) return verified
    if (!verified.page) throw new ConfigError(`${file} has no page to read`)
    await inWords(page, () => writeFile(page, parts.join(''), { mode: 0o600 }))
    return verified
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
      throw fileFault(file, error, 'name a file written by keyway review evidence')
    throw error
  }
}

/** Returns a fingerprint or a key as digits, or the key of a PEM file. */
async function keyOf(given: string): Promise<string> {
  if (/^[0-9a-f]{64}$/i.test(given)) return given.toLowerCase()
  const pem = await readFile(given, 'utf8').catch((error) => {
    throw fileFault(given, error, '--key takes 64 hex digits, or a file with a public key')
  })
  try {
    const key = createPublicKey(pem)
    if (key.asymmetricKeyType === 'ed25519') return publicKeyDigits(key)
  } catch (cause) {
    throw new ConfigError(`--key: ${given} is not a public key in PEM: ${messageOf(cause)}`)
  }
  throw new ConfigError(`--key: ${given} is not an Ed25519 key, which signs evidence`)
}

const shown = (verified: Verified) => ({
  ...verified,
  fingerprint: fingerprintOf(verified.public_key),
})

/** OF: subject of the evidence -> summary of its lines. */
const OF: Record<Verified['about'], (said: Omit<Verified, 'review'>, states: string) => string[]> =
  {
    review: (said, states) => [
      `  ${counted(said.items, 'line')} of ${counted(said.apps, 'app')}: ${states}`,
      `  ${counted(said.acts, 'act')} of decision; entries of the activity log: ${said.log_entries}`,
    ],
    offboarding: (said) => [
      `  ${counted(said.steps, 'account')}; entries of the activity log: ${said.log_entries}`,
    ],
    access: (said) => [
      `  held as of ${said.as_of}: ${said.held}`,
      `  entries of the activity log: ${said.log_entries}`,
    ],
  }

function words({ review, ...said }: Verified): string {
  const states = Object.entries(said.states).map(([state, count]) => `${count} ${state}`)
  return inLines([
    `  ${review.name} (${review.id}), ${review.status}, taken at ${said.taken_at}`,
    ...OF[said.about](said, states.join(', ') || 'none'),
    `  the activity log ended with ${said.log_head}`,
    said.uploads > 0 && `  ${counted(said.uploads, 'attached file')}`,
    !said.final && '  The review had not ended: decisions and removals may have followed.',
    said.not_chained > 0 && `  ${said.not_chained} of the entries were not chained to the log yet.`,
    said.redacted > 0 &&
      `  Names of erased people were removed from ${said.redacted} of the entries.`,
    said.log_gap !== null && `  ${said.log_gap}`,
  ])
}
