import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { CAPABILITIES } from '../../runtime/contract/capabilities/capabilities.ts'
import { schemaEntries } from '../../runtime/contract/schema/shape.ts'
import { fittingCopy, MISFIT } from '../../runtime/invoke/fitting-copy.ts'
import { createRandom } from '../contract/fixtures/random.ts'

/** Values of members, some of them valid. */
const VALUES = [
  ...['', 'a', 'é', '2026-01-01', 0, 1, -1.5, true, false, null, undefined],
  ...[[], ['a'], [1], {}, { a: 1 }, { start_date: 'x' }, { transaction_date: null }],
]
const MORE = ['more', '__proto__', 'constructor', 'toString']

describe.each(Object.entries(CAPABILITIES))('a request of %s', (name, { input }) => {
  test('is copied exactly as the schema would output it, or not at all', () => {
    const random = createRandom(name.length)
    const names = [...Object.keys(schemaEntries(input)), ...MORE]
    for (let round = 0; round < 400; round += 1) {
      const text = Array.from({ length: random.below(names.length + 2) }, () => {
        const value = random.below(3) > 0 ? 'a' : (random.pick(VALUES) ?? null)
        return `${JSON.stringify(random.pick(names))}:${JSON.stringify(value)}`
      }).join(',')
      const value: unknown = JSON.parse(`{${text}}`)
      const copied = fittingCopy(input)(value)
      if (copied === MISFIT) continue
      const { success, output } = v.safeParse(input, value)
      expect(success, text).toBe(true)
      expect(copied, text).toStrictEqual(output)
    }
  })

  test.each([null, undefined, 1, 'a', [], [{}]])('that is %j is left to the schema', (value) => {
    expect(fittingCopy(input)(value)).toBe(MISFIT)
  })
})

test('a typical write is copied without its schema', () => {
  const request = {
    account_integration_specific_id: 'u1',
    resource_integration_specific_id: '',
    resource_type: '',
    entitlement_type: 'GROUP',
    entitlement_integration_specific_id: 'g1',
  }
  const { input } = CAPABILITIES.assign_entitlement
  expect(fittingCopy(input)({ ...request, more: 1 })).toStrictEqual(request)
  expect(fittingCopy(CAPABILITIES.list_accounts.input)({})).toStrictEqual({
    custom_attributes: undefined,
  })
})

test.each([
  ['a schema with a check', v.object({ a: v.pipe(v.string(), v.minLength(2)) }), { a: 'x' }],
  ['a schema with a transformation', v.object({ a: v.pipe(v.string(), v.trim()) }), { a: ' x' }],
  ['a strict object', v.strictObject({ a: v.string() }), { a: 'x', b: 1 }],
  ['a picklist', v.object({ a: v.picklist(['x']) }), { a: 'y' }],
])('%s is left to the schema', (_what, schema, value) => {
  expect(fittingCopy(schema)(value)).toBe(MISFIT)
})
