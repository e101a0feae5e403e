import { expect, test } from 'vitest'
import { parseParams } from '../../../runtime/contract/endpoints/params.ts'
import { ENDPOINTS, queryOf } from '../../../runtime/contract/endpoints/table.ts'

const asked = (query: string) =>
  parseParams(ENDPOINTS.list_apps.query, new URLSearchParams(query)).values

test('the query of a page equals that of a caller with the same keys', () => {
  expect(queryOf('list_apps', {})).toEqual(asked(''))
  expect(queryOf('list_apps', { name_search: 'git', disconnected: false, page: 3 })).toEqual(
    asked('name_search=git&disconnected=false&page=3'),
  )
})

test('a change to one query does not affect the next', () => {
  const query = queryOf('list_apps', {})
  query.expand.push('custom_attributes')
  expect(queryOf('list_apps', {}).expand).toEqual([])
})
