/** A registry in a folder, as `keyway publish` makes it, for tests. */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { signText } from '../../../runtime/connectors/packages/sign.ts'
import {
  INDEX_FILE,
  INDEX_FORM,
  INDEX_SIGNATURE,
  type PublishedIndex,
  packageFile,
  parseIndex,
  textOfIndex,
} from '../../../runtime/connectors/published/form.ts'
import { nextIndex } from '../../../runtime/connectors/published/rules.ts'
import { withdrawn } from '../../../runtime/connectors/published/withdrawing.ts'
import { type Made, publisher } from './packaging.ts'

/** Publishes versions of a connector into a folder. */
export async function publishInto(registry: string, made: readonly Made[]): Promise<void> {
  const versions = made.map(({ id, version, digest, packed }) => ({
    ...{ id, name: 'Made up', description: 'For this test', logo: null },
    version: {
      ...{ version, digest, bytes: packed.length, runtime: '^1.0.0', signed: true, wants: [] },
    },
  }))
  const index = nextIndex(null, versions, { now: new Date(), days: 1 })
  await mkdir(path.join(registry, 'packages'), { recursive: true })
  for (const [at, { packed, signature }] of made.entries()) {
    const one = versions[at]
    if (!one) continue
    const file = path.join(registry, packageFile(one.id, one.version))
    await writeFile(file, packed)
    await writeFile(`${file}.sig`, signature)
  }
  await signInto(registry, index)
}

/** Withdraws a version that was published there. */
export async function withdrawIn(registry: string, name: string, reason: string): Promise<void> {
  const before = parseIndex(await readFile(path.join(registry, INDEX_FILE), 'utf8'))
  const next = nextIndex(before, [], { now: new Date(), days: 1 })
  const asked = { withdraw: [name], restore: [], reason }
  await signInto(registry, withdrawn(next, asked, new Date()))
}

/** Publishes only an index, with connectors named `made-000` and so on. */
export async function indexMany(registry: string, count: number): Promise<void> {
  const before = parseIndex(await readFile(path.join(registry, INDEX_FILE), 'utf8'))
  const many = Array.from({ length: count }, (_, n) => ({
    ...{ id: `made-${String(n).padStart(3, '0')}`, name: 'Made up', description: '', logo: null },
    version: {
      ...{ version: '1.0.0', digest: 'a'.repeat(64), bytes: 100, runtime: '^1.0.0', signed: true },
      wants: [],
    },
  }))
  const next = nextIndex({ ...before, connectors: [] }, many, { now: new Date(), days: 1 })
  await signInto(registry, next)
}

async function signInto(registry: string, index: PublishedIndex): Promise<void> {
  const text = textOfIndex(index)
  await writeFile(path.join(registry, INDEX_FILE), text)
  const signed = signText(INDEX_FORM, text, publisher.privateKey)
  await writeFile(path.join(registry, INDEX_SIGNATURE), JSON.stringify(signed))
}
