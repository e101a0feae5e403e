import { expect, test } from 'vitest'
import { parseParams } from '../../../runtime/contract/endpoints/params.ts'
import { ENDPOINTS, queryOf } from '../../../runtime/contract/endpoints/table.ts'

const asked = (query: string) =>
  parseParams(ENDPOINTS.list_apps.query, new URLSearchParams(query)).values

test('a page asks as a caller does who names the same keys', () => {
  expect(queryOf('list_apps', {})).toEqual(asked(''))
  expect(queryOf('list_apps', { name_search: 'git', disconnected: false, page: 3 })).toEqual(
    asked('name_search=git&disconnected=false&page=3'),
  )
})

test('what one page asks for is not in the query of the next', () => {
  const query = queryOf('list_apps', {})
  query.expand.push('custom_attributes')
  expect(queryOf('list_apps', {}).expand).toEqual([])
})
