/**
 * References in bodies to other objects (core-interface.md section 2.2, Base...), and size limits of a body.
 * Other members are ignored, so that a response may be sent back.
 */
import * as v from 'valibot'
import { keptNull, object } from '../schema/schemas.ts'
import type { AnySchema } from '../schema/shape.ts'

/** Default maximum number of entries of a list in a body. */
const MAX_ENTRIES = 500
/** Maximum length of text for people, in characters. */
const MAX_TEXT = 10_000
/** Maximum length of a name, in characters. */
export const MAX_NAME = 1024

/** Returns the schema of a list in a body. */
export const listOf = <const S extends AnySchema>(schema: S, maxEntries = MAX_ENTRIES) =>
  v.pipe(v.array(schema), v.maxLength(maxEntries))

/** Returns the schema of text for people in a body. */
export const prose = (description: string) =>
  v.pipe(v.string(), v.maxLength(MAX_TEXT), v.metadata({ description }))

/** Returns the schema of a reason, which must not be blank. */
export const reasonText = (maxLength: number, description: string) =>
  v.pipe(
    v.string(),
    v.regex(/\S/, 'a reason is needed'),
    v.maxLength(maxLength),
    v.metadata({ description }),
  )

/** A response type with ids in place of referenced objects. */
export type ById<T> = T extends { id: string }
  ? string
  : T extends readonly (infer One)[]
    ? ById<One>[]
    : T extends object
      ? { [K in keyof T]: ById<T[K]> }
      : T

export const BaseGroup = v.pipe(
  v.object({
    id: keptNull(v.string()),
    app_id: keptNull(v.string()),
    integration_specific_id: keptNull(v.string()),
  }),
  v.check(
    ({ id, app_id, integration_specific_id }) =>
      Boolean(id) || (Boolean(app_id) && Boolean(integration_specific_id)),
    'a group needs its id, or app_id and integration_specific_id',
  ),
  v.metadata({
    title: 'BaseGroup',
    description: 'A group, by its id or by app_id and integration_specific_id',
  }),
)

const base = <const T extends string>(title: T, description: string) =>
  object(title, description, { id: v.string() })

export const BaseUser = v.pipe(
  v.object({ id: keptNull(v.string()), email: keptNull(v.string()) }),
  v.check(({ id, email }) => Boolean(id) || Boolean(email), 'a user needs its id or email'),
  v.metadata({
    title: 'BaseUser',
    description: 'A user, by id or, for callers who may not list users, by e-mail address',
  }),
)
export const BaseInlineWebhook = base('BaseInlineWebhook', 'An inline webhook, by id')
export const RequestablePermissionBase = base(
  'RequestablePermissionBase',
  'A requestable permission, by id',
)
