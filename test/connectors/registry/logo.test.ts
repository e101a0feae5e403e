import { expect, test } from 'vitest'
import { logoOf, MAX_LOGO_BYTES } from '../../../runtime/connectors/registry/logo.ts'

const files = (name: string, bytes: number) => new Map([[name, Buffer.alloc(bytes, 'x')]])

test.each([
  ['logo.svg', 'data:image/svg+xml;base64,eHg='],
  ['logo.png', 'data:image/png;base64,eHg='],
])('%s is returned as a data: URL', (logo, url) => {
  expect(logoOf({ logo }, { files: files(logo, 2) })).toEqual({ ok: true, url })
})

test('a manifest may have no logo', () => {
  expect(logoOf({}, { files: new Map() })).toEqual({ ok: true, url: null })
})

test('a logo must exist and have at most 64 KiB', () => {
  const judge = (bytes: number) => logoOf({ logo: 'a.svg' }, { files: files('a.svg', bytes) })
  expect(judge(MAX_LOGO_BYTES).ok).toBe(true)
  expect(judge(MAX_LOGO_BYTES + 1)).toEqual({ ok: false, finding: 'logo: larger than 64 KiB' })
  expect(logoOf({ logo: 'a.svg' }, { files: new Map() })).toMatchObject({
    finding: 'logo: there is no a.svg in the folder',
  })
})
