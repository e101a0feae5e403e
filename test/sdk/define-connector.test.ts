import * as sdk from 'keyway/sdk'
import { expect, test } from 'vitest'

test('gives back what it was given', () => {
  const handlers = { list_resources: () => [] }
  expect(sdk.defineConnector(handlers)).toBe(handlers)
})
