import { describe, expect, test, vi } from 'vitest'
import { readFolder } from '../../../runtime/connectors/registry/folder.ts'
import { createLocate } from '../../../runtime/connectors/registry/positions.ts'
import type { RuntimeError } from '../../../runtime/contract/errors/errors.ts'
import { bench } from './fixtures/bench.ts'
import { filesOf, temporaryFolder, write } from './fixtures/folders.ts'

/** The positions of the error that loading these files throws, and the location reported for it. */
async function place(files: Record<string, string>) {
  const directory = temporaryFolder()
  await write(directory, files)
  const folder = await readFolder(directory)
  const compiled = await bench.inspector.compile(folder)
  if (!compiled.ok) throw new Error(compiled.findings.join('\n'))
  const connector = {
    id: 'acme',
    digest: folder.digest,
    code: compiled.code,
    memoryMb: 32,
    responseFields: {},
  }
  const error = await bench.lanes.describe(connector, 8000).then(
    () => null,
    (thrown: RuntimeError) => thrown,
  )
  const at = error?.details.at ?? []
  return {
    at,
    map: compiled.map ?? '',
    where: await createLocate(async () => compiled.map)(folder.digest, at),
  }
}

describe('the location of an error', () => {
  test('is the line and column of the author’s file', async () => {
    const { where } = await place(
      filesOf({}, `type A = {\n  b: string\n}\n\n  null.x\nexport default {}`),
    )
    expect(where).toBe('connector.ts:5:8')
  })

  test('can be in another file of the folder', async () => {
    const { where } = await place({
      ...filesOf({}, `import { go } from './lib/deep.ts'\ngo()\nexport default {}`),
      'lib/deep.ts': '\n\nexport function go() {\n  throw new Error("no")\n}',
    })
    expect(where).toBe('lib/deep.ts:4:9')
  })

  test('is in the file of the author, not in the SDK', async () => {
    const { where, map } = await place(
      filesOf({}, `import { path } from 'keyway/sdk'\n\npath\`/a/\${'..'}\`\nexport default {}`),
    )
    expect(where).toBe('connector.ts:3:1')
    expect(map).not.toMatch(/runtime|sdk|sourcesContent/)
  })

  test('does not depend on a source map of the author', async () => {
    const claim = `data:application/json,${JSON.stringify({
      version: 3,
      sources: ['elsewhere.ts'],
      mappings: 'AAAA;AACA;AACA',
    })}`
    const { where, map } = await place(
      filesOf({}, `\nnull.x\nexport default {}\n//# sourceMappingURL=${claim}`),
    )
    expect(where).toBe('connector.ts:2:6')
    expect(map).not.toContain('elsewhere')
  })
})

describe('no location is reported', () => {
  const at = [{ line: 1, column: 1 }]
  const map = (source: unknown) =>
    JSON.stringify({ version: 3, sources: [source], names: [], mappings: 'AAAA' })

  test.each([
    ['without a source map', null],
    ['with a source map that is not JSON', '{'],
    ['with a source map that is not an object', '7'],
    ['with a source map without mappings', '{}'],
    ['for a file outside the package', map('../secret.ts')],
    ['for an absolute path', map('/etc/passwd')],
    ['for a file without a name', map('')],
    ['for a file name that is not a text', map(null)],
    ['for a file name with a line break', map('a\nb')],
  ])('%s', async (_what, text) => {
    expect(await createLocate(async () => text)('d', at)).toBeNull()
  })

  test('when the map cannot be read', async () => {
    expect(await createLocate(() => Promise.reject(new Error('disk')))('d', at)).toBeNull()
  })

  test('for an error without positions, and no map is read', async () => {
    const read = vi.fn()
    expect(await createLocate(read)('d', [])).toBeNull()
    expect(read).not.toHaveBeenCalled()
  })
})

test('a map is read once', async () => {
  const read = vi.fn(async () =>
    JSON.stringify({ version: 3, sources: ['a.ts'], names: [], mappings: 'AAAA' }),
  )
  const locate = createLocate(read)
  const at = [{ line: 1, column: 1 }]
  expect([await locate('d', at), await locate('d', at)]).toEqual(['a.ts:1:1', 'a.ts:1:1'])
  expect(read).toHaveBeenCalledOnce()
})
