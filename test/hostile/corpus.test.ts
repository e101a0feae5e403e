/** The corpus is complete: every attack has code, all code is an attack, and both state the same promise. */
import { readdirSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { type Family, isRefused } from '../../runtime/verify/attacks/attack.ts'
import { ATTACKS } from '../../runtime/verify/attacks/attacks.ts'
import { attackWords } from '../../runtime/verify/corpus.ts'
import { select } from '../../runtime/verify/verify.ts'

const all = select() ?? []

test('attack names are unique', () => {
  const names = all.map(({ attack }) => attack.name)
  expect(names).toEqual([...new Set(names)])
})

test.each(Object.keys(ATTACKS) as Family[])('every file of %s is an attack', (family) => {
  const found = readdirSync(path.join(import.meta.dirname, family)).map((name) =>
    name.replace(/\.\w+$/, ''),
  )
  const known =
    family === 'worker'
      ? ['connector', 'hostile-worker']
      : ATTACKS[family].map(({ name, shared }) => shared?.source ?? name)
  expect(found.sort()).toEqual([...new Set(known)].sort())
})

test.each(all)(
  '$attack.name states which promise it attacks and what must happen',
  async ({ family, attack }) => {
    expect(await attackWords(family, attack)).toMatch(
      new RegExp(`^\\S.*\\. Promise ${attack.promise}\\. Must happen: \\S.*\\.$`),
    )
  },
)

test('an attack that is always refused declares neither calls nor an action', () => {
  const called = all.filter(
    ({ attack }) =>
      isRefused(attack) && attack.ends.length === 1 && (attack.calls || attack.action),
  )
  expect(called).toEqual([])
})
