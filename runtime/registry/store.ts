/**
 * What has been judged, kept in the data directory: one folder per content digest with the verdict and
 * the bundle, so that a connector is compiled once and a start reads verdicts only.
 *
 * A verdict also depends on the runtime that gave it (the SDK is part of every bundle), so the digest
 * of the runtime's own sources is part of the folder's name.
 */
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import * as v from 'valibot'
import { Manifest } from '../contract/manifest.ts'
import type { Verdict } from './inspect.ts'

/** A verdict as it is kept; the bundle lies beside it and is read when first called. */
export type StoredVerdict =
  | { ok: true; manifest: Manifest }
  | { ok: false; findings: string[]; id: string | null; version: string | null }

export type Store = {
  find(digest: string): Promise<StoredVerdict | null>
  keep(digest: string, verdict: Verdict): Promise<void>
  code(digest: string): Promise<string>
  /** The digest that was last good in a drop-in folder, by the folder's path. */
  lastGood(directory: string): Promise<string | null>
  setLastGood(directory: string, digest: string | null): Promise<void>
}

const Kept = v.variant('ok', [
  v.object({ ok: v.literal(true), manifest: Manifest }),
  v.object({
    ok: v.literal(false),
    findings: v.array(v.string()),
    id: v.nullable(v.string()),
    version: v.nullable(v.string()),
  }),
])

/** Opens the store below a directory. `toolchain` is the digest of the runtime's own sources. */
export function openStore(directory: string, toolchain: string): Store {
  const home = (digest: string) =>
    path.join(directory, 'connectors', `${digest}-${toolchain.slice(0, 12)}`)
  const lastGoodFile = path.join(directory, 'last-good.json')
  let writing: Promise<void> = Promise.resolve()

  async function readLastGood(): Promise<Record<string, string>> {
    const text = await readOrNull(lastGoodFile)
    const parsed = v.safeParse(v.record(v.string(), v.string()), text === null ? {} : tryJson(text))
    return parsed.success ? parsed.output : {}
  }

  return {
    async find(digest) {
      const text = await readOrNull(path.join(home(digest), 'verdict.json'))
      if (text === null) return null
      const parsed = v.safeParse(Kept, tryJson(text))
      // Half written, or of an older form: judge again.
      return parsed.success ? parsed.output : null
    },
    async keep(digest, verdict) {
      const target = home(digest)
      const made = `${target}.${process.pid}.tmp`
      await rm(made, { recursive: true, force: true })
      await mkdir(made, { recursive: true, mode: 0o700 })
      if (verdict.ok) {
        const { code, ...kept } = verdict
        await writeFile(path.join(made, 'code.js'), code)
        await writeFile(path.join(made, 'verdict.json'), JSON.stringify(kept))
      } else {
        await writeFile(path.join(made, 'verdict.json'), JSON.stringify(verdict))
      }
      await rm(target, { recursive: true, force: true })
      await rename(made, target)
    },
    code: (digest) => readFile(path.join(home(digest), 'code.js'), 'utf8'),
    lastGood: async (folder) => (await readLastGood())[folder] ?? null,
    setLastGood(folder, digest) {
      writing = writing.then(async () => {
        const all = await readLastGood()
        if (all[folder] === digest) return
        if (digest === null) delete all[folder]
        else all[folder] = digest
        await mkdir(directory, { recursive: true, mode: 0o700 })
        await writeFile(`${lastGoodFile}.${process.pid}`, JSON.stringify(all, null, 2))
        await rename(`${lastGoodFile}.${process.pid}`, lastGoodFile)
      })
      return writing
    },
  }
}

async function readOrNull(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Written half by a process that was killed: as good as not there.
    return undefined
  }
}
