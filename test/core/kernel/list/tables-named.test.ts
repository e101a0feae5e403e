/** The tables on which a cached list depends: if one is missed, the list shows stale rows. */
import { expect, test } from 'vitest'
import { tablesNamed } from '../../../../runtime/core/kernel/list/tables-named.ts'

test.each([
  ['the table of the list', 'select "id" from "tasks" where "tasks"."domain_id" = $1', ['tasks']],
  [
    'a table in a subquery of the query builder',
    'select "id" from "tasks" where "id" in (select "task_id" from "task_assignees" left join "groups" on true)',
    ['tasks', 'task_assignees', 'groups'],
  ],
  [
    'a table in plain SQL',
    'select "id" from "tasks" where exists (select from access_requests r\n join task_assignees a on a.x = r.y)',
    ['tasks', 'access_requests', 'task_assignees'],
  ],
  ['a table that is named only with a column', 'where "apps"."name" = $1', ['apps']],
] as const)('%s is found', (_, text, tables) => {
  expect(tablesNamed(text)).toEqual(tables)
})

test.each([
  ['a function', 'from "tasks" join unnest($1::uuid[]) given on true'],
  ['a column', 'from "tasks" where given is distinct from r.requester_id'],
  ['a parameter', 'from "tasks" where given is distinct from $2::uuid'],
  ['a subquery', 'from "tasks" cross join lateral (select 1) one'],
])('%s is not taken for a table', (_, text) => {
  expect(tablesNamed(text)).toEqual(['tasks'])
})
