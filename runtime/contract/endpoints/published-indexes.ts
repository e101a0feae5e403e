/** What a host remembers of registries: the newest index of each publisher. */
import * as v from 'valibot'
import { row } from './operator-row.ts'

const describe = <S extends v.GenericSchema>(schema: S, description: string) =>
  v.pipe(schema, v.metadata({ description }))

export const PUBLISHED_INDEX_ENDPOINTS = {
  see_published_index: row({
    method: 'POST',
    path: '/published-indexes',
    summary:
      'Remember the version of an index that a trusted publisher has signed; refused (409) where a newer one was seen',
    body: v.strictObject({
      key: describe(v.pipe(v.string(), v.maxLength(100)), 'Id of the key that signed it'),
      version: describe(v.pipe(v.number(), v.safeInteger(), v.minValue(1)), 'Of the index'),
    }),
    output: v.pipe(
      v.strictObject({
        key: v.string(),
        version: describe(v.number(), 'The newest that was seen'),
      }),
      v.metadata({ title: 'SeenIndex' }),
    ),
    errors: [404, 409, 413, 415, 422],
  }),
} as const
