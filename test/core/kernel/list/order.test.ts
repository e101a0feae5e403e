/** The order in which a list is requested. */
import { sql } from 'drizzle-orm'
import { PgDialect } from 'drizzle-orm/pg-core'
import { expect, test } from 'vitest'
import { orderOf } from '../../../../runtime/core/kernel/list/order.ts'
import { accessReviews } from '../../../../runtime/database/schema/reviews.ts'

const { name, deadlineAt, id } = accessReviews

test.each([
  ['name', '"name" asc, "id" asc'],
  ['-name', '"name" desc, "id" desc'],
  ['-deadline', '"deadline_at" desc, "id" desc'],
] as const)('%s sorts by its column, then by the id', (sort, text) => {
  const order = orderOf({ name, deadline: deadlineAt }, sort, id)
  const { sql: written } = new PgDialect().sqlToQuery(sql.join(order, sql`, `))
  expect(written.replaceAll('"access_reviews".', '')).toBe(text)
})
