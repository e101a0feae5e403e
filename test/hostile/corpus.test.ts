/** The corpus is whole: every attack has its code, every code its attack, and both say the same. */
import { readdirSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { type Family, isRefused } from '../../runtime/verify/attacks/attack.ts'
import { ATTACKS } from '../../runtime/verify/attacks/attacks.ts'
import { attackWords } from '../../runtime/verify/corpus.ts'
import { select } from '../../runtime/verify/verify.ts'

const all = select() ?? []

test('no two attacks have one name', () => {
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
  '$attack.name says which promise it attacks, and what must happen',
  async ({ family, attack }) => {
    expect(await attackWords(family, attack)).toMatch(
      new RegExp(`^\\S.*\\. Promise ${attack.promise}\\. Must happen: \\S.*\\.$`),
    )
  },
)

test('what is never served is called by nobody', () => {
  const called = all.filter(
    ({ attack }) => isRefused(attack) && attack.ends.length === 1 && (attack.calls || attack.deed),
  )
  expect(called).toEqual([])
})
