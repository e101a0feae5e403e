import { expect, test } from 'vitest'
import { renamed } from '../../runtime/sdk/sdk.ts'

test('returns the given fields under the names of the system, and no others', () => {
  const names = { given_name: 'firstname', family_name: 'lastname', email: 'mail' }
  const given = { id: '7', given_name: 'Ada', family_name: null, email: undefined }
  expect(renamed(given, names)).toEqual({ firstname: 'Ada', lastname: null })
  expect(renamed({}, names)).toEqual({})
})
