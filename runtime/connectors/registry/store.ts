/**
 * Stores verdicts and bundles in the data directory, one folder per content digest, so that a connector is
 * compiled once and a start reads verdicts only.
 *
 * A verdict also depends on the runtime (the SDK is part of every bundle), so the digest of the runtime's own
 * sources is part of the folder's name.
 */

import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import * as v from 'valibot'
import { MAX_MANIFEST_BYTES, Manifest } from '../../contract/connector/manifest.ts'
import { patternsFault } from '../../contract/connector/pattern.ts'
import { codeOf, ifMissing } from '../../contract/errors/thrown.ts'
import { parsedJson } from '../../contract/schema/json-text.ts'
import { membersOf } from '../../contract/schema/record.ts'
import type { Inspection } from './inspect.ts'

/** A stored verdict. Its bundle is stored next to it and read at the first call. */
export type StoredVerdict =
  | { ok: true; manifest: Manifest }
  | { ok: false; findings: string[]; id: string | null; version: string | null }

export type Store = {
  find(digest: string): Promise<StoredVerdict | null>
  keep(digest: string, verdict: Inspection): Promise<void>
  /** Reads the manifest of a good package, also if another version of the runtime inspected it. */
  manifest(digest: string): Promise<Manifest | null>
  /** Reads the bundle of a good package, preferably one made by this runtime. */
  code(digest: string): Promise<string>
  /** Reads the source map of that bundle, or null if there is none. */
  map(digest: string): Promise<string | null>
  /** Reads the logo of a good package as a data URL, or null if there is none. */
  logo(digest: string): Promise<string | null>
  /** Reads the digest of the last good content of a drop-in folder, by path. */
  lastGood(directory: string): Promise<string | null>
  setLastGood(directory: string, digest: string | null): Promise<void>
}

/** Maximum length of a stored verdict in characters: a manifest with all defaults filled in. */
const MAX_VERDICT_LENGTH = 4 * MAX_MANIFEST_BYTES

const Kept = v.variant('ok', [
  v.object({ ok: v.literal(true), manifest: Manifest }),
  v.object({
    ok: v.literal(false),
    findings: v.array(v.string()),
    id: v.nullable(v.string()),
    version: v.nullable(v.string()),
  }),
])

/** Matches the end of a stored verdict: the digest of the text before it. */
const SUM = /,"sum":"([0-9a-f]{64})"\}$/

const sumOf = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Returns a verdict as text with its digest. */
function withSum(verdict: StoredVerdict): string {
  const text = JSON.stringify(verdict)
  return `${text.slice(0, -1)},"sum":"${sumOf(text)}"}`
}

/** Returns a verdict that is unchanged since it was written, and so is valid; null for any other text. */
function unchanged(text: string): StoredVerdict | null {
  const found = SUM.exec(text)
  if (!found) return null
  const whole = `${text.slice(0, found.index)}}`
  if (sumOf(whole) !== found[1]) return null
  // Only verdicts are written with such a digest.
  const verdict: StoredVerdict = JSON.parse(whole)
  return verdict
}

/** Opens the store below a directory. `toolchain` is the digest of the runtime's own sources. */
export function openStore(directory: string, toolchain: string): Store {
  const home = (digest: string) =>
    path.join(directory, 'connectors', `${digest}-${toolchain.slice(0, 12)}`)
  const isOwn = (folder: string) => folder.endsWith(`-${toolchain.slice(0, 12)}`)
  const lastGoodFile = path.join(directory, 'last-good.json')
  let writing: Promise<void> = Promise.resolve()

  /** Read once: only this process writes it, and needs it for every folder. */
  let lastGoods: Promise<Record<string, string>> | null = null
  const readLastGood = () => {
    lastGoods ??= lastGoodOn(lastGoodFile).catch((error) => {
      lastGoods = null
      throw error
    })
    return lastGoods
  }

  /** Returns the folders of a digest made by other versions of the runtime. */
  async function othersOf(digest: string): Promise<string[]> {
    const all = await readdir(path.join(directory, 'connectors')).catch(ifMissing<string[]>([]))
    return all
      .filter((name) => name.startsWith(`${digest}-`) && /-[0-9a-f]{12}$/.test(name))
      .map((name) => path.join(directory, 'connectors', name))
      .filter((one) => one !== home(digest))
      .sort()
  }

  async function read(folder: string): Promise<StoredVerdict | null> {
    const text = await readOrNull(path.join(folder, 'verdict.json'))
    // Larger than any valid manifest: stored by a runtime without bounds.
    if (text === null || text.length > MAX_VERDICT_LENGTH) return null
    // A verdict of another version of the runtime may have another format.
    const verdict = (isOwn(folder) ? unchanged(text) : null) ?? checked(text)
    if (verdict === null) return null
    const whole = !verdict.ok || (await isThere(path.join(folder, 'code.js')))
    return whole ? verdict : null
  }

  async function firstGood(digest: string): Promise<{ folder: string; manifest: Manifest } | null> {
    const own = await read(home(digest))
    if (own?.ok) return { folder: home(digest), manifest: own.manifest }
    for (const folder of await othersOf(digest)) {
      const verdict = await read(folder)
      if (verdict?.ok) return { folder, manifest: verdict.manifest }
    }
    return null
  }

  /** Reads a file stored next to the verdict on a good package. */
  async function beside(digest: string, name: string): Promise<string | null> {
    const good = await firstGood(digest)
    return good && readOrNull(path.join(good.folder, name))
  }

  return {
    find: (digest) => read(home(digest)),
    manifest: async (digest) => (await firstGood(digest))?.manifest ?? null,
    async keep(digest, verdict) {
      const target = home(digest)
      const made = `${target}.${randomUUID()}.tmp`
      try {
        await mkdir(made, { recursive: true, mode: 0o700 })
        await writeVerdict(made, verdict)
        await replace(target, made)
      } catch (error) {
        // A full disk must not fill up further with each attempt.
        await rm(made, { recursive: true, force: true })
        throw error
      }
    },
    async code(digest) {
      const good = await firstGood(digest)
      return readFile(path.join(good?.folder ?? home(digest), 'code.js'), 'utf8')
    },
    map: (digest) => beside(digest, 'code.js.map'),
    logo: (digest) => beside(digest, 'logo.txt'),
    lastGood: async (folder) => (await readLastGood())[folder] ?? null,
    setLastGood(folder, digest) {
      const written = writing.then(async () => {
        const before = await readLastGood()
        if ((before[folder] ?? null) === digest) return
        const { [folder]: _old, ...others } = before
        const all = digest === null ? others : { ...others, [folder]: digest }
        await mkdir(directory, { recursive: true, mode: 0o700 })
        await writeFile(`${lastGoodFile}.${process.pid}`, JSON.stringify(all, null, 2))
        await rename(`${lastGoodFile}.${process.pid}`, lastGoodFile)
        lastGoods = Promise.resolve(all)
      })
      // A failed write (full disk) is reported to its caller and does not stop later ones.
      writing = written.catch(() => undefined)
      return written
    },
  }
}

/** Returns null for a partly written verdict or an older format, which is inspected again. */
function checked(text: string): StoredVerdict | null {
  const value = parsedJson(text)
  if (patternsFault(membersOf(value)['manifest']) !== null) return null
  const parsed = v.safeParse(Kept, value)
  return parsed.success ? parsed.output : null
}

async function writeVerdict(folder: string, verdict: Inspection): Promise<void> {
  const write = (name: string, text: string) => writeFile(path.join(folder, name), text)
  if (!verdict.ok) return write('verdict.json', withSum(verdict))
  const { code, map, logo, ...kept } = verdict
  await write('code.js', code)
  if (map !== null) await write('code.js.map', map)
  if (logo !== null) await write('logo.txt', logo)
  await write('verdict.json', withSum(kept))
}

async function lastGoodOn(file: string): Promise<Record<string, string>> {
  const text = await readOrNull(file)
  const parsed = v.safeParse(
    v.record(v.string(), v.string()),
    text === null ? {} : parsedJson(text),
  )
  return parsed.success ? parsed.output : {}
}

/** Each failed attempt means that another process succeeded. */
const MAX_TRIES = 100

/**
 * Moves a folder into another's place. Of two concurrent moves either may win, since both have the same
 * content.
 */
async function replace(target: string, made: string): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await rename(made, target)
    } catch (error) {
      const code = codeOf(error)
      if ((code !== 'ENOTEMPTY' && code !== 'EEXIST') || tries === MAX_TRIES) throw error
      const old = `${target}.${randomUUID()}.old`
      // Another process has moved it away.
      await rename(target, old).catch(() => undefined)
      await rm(old, { recursive: true, force: true })
    }
  }
}

const isThere = (file: string): Promise<boolean> =>
  stat(file).then((one) => one.isFile(), ifMissing(false))

const readOrNull = (file: string): Promise<string | null> =>
  readFile(file, 'utf8').catch(ifMissing(null))
