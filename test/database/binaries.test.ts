/** The copy of PostgreSQL's programs that all hosts of a machine share. */
import { readFile, readlink, symlink, unlink } from 'node:fs/promises'
import path from 'node:path'
import { expect, test } from 'vitest'
import { installBinaries } from '../../runtime/database/binaries.ts'
import { temporaryFolder } from '../connectors/registry/fixtures/folders.ts'

/** The links of a copy and their targets. */
async function linksOf(bin: string): Promise<[string, string][]> {
  const home = path.dirname(bin)
  const links: { target: string }[] = JSON.parse(
    await readFile(path.join(home, 'pg-symlinks.json'), 'utf8'),
  )
  return Promise.all(
    links.map(async ({ target }): Promise<[string, string]> => {
      const place = path.join(home, path.relative('native', target))
      return [place, await readlink(place)]
    }),
  )
}

test('a copy has no links into the checkout that made it', async () => {
  const { bin } = await installBinaries([temporaryFolder()], null)
  for (const [, leads] of await linksOf(bin)) expect(path.isAbsolute(leads)).toBe(false)
})

test('links of an earlier copy that point into a checkout are replaced', async () => {
  const folder = temporaryFolder()
  const { bin } = await installBinaries([folder], null)
  const [[place = ''] = []] = await linksOf(bin)
  await unlink(place)
  await symlink('/nowhere/native/lib/gone', place)
  await installBinaries([folder], null)
  expect(path.isAbsolute(await readlink(place))).toBe(false)
})
