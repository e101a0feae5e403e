import * as sdk from 'keyway/sdk'
import { expect, test } from 'vitest'

test('returns its argument', () => {
  const handlers = { list_resources: () => [] }
  expect(sdk.defineConnector(handlers)).toBe(handlers)
})
