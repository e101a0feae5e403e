/**
 * How bodies refer to what is kept elsewhere (core-interface.md section 2.2, Base...), and how much of it
 * fits into one body. Other members are ignored, so that what was read may be sent back.
 */
import * as v from 'valibot'
import { keptNull, object } from '../schema/schemas.ts'
import type { AnySchema } from '../schema/shape.ts'

/** Most entries of a list in a body, where nothing else is said. */
const MAX_ENTRIES = 500
/** Longest text for people to read, in characters. */
const MAX_TEXT = 10_000
/** Longest name, in characters. */
export const MAX_NAME = 1024

/** A list in a body. */
export const listOf = <const S extends AnySchema>(schema: S, maxEntries = MAX_ENTRIES) =>
  v.pipe(v.array(schema), v.maxLength(maxEntries))

/** Text for people in a body. */
export const prose = (description: string) =>
  v.pipe(v.string(), v.maxLength(MAX_TEXT), v.metadata({ description }))

/** Why a person does something; it is never empty. */
export const reasonText = (maxLength: number, description: string) =>
  v.pipe(
    v.string(),
    v.regex(/\S/, 'a reason is needed'),
    v.maxLength(maxLength),
    v.metadata({ description }),
  )

/** An answer with ids in place of what they refer to. */
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
    description: 'A user, by id or, for who may not list users, by e-mail address',
  }),
)
export const BaseInlineWebhook = base('BaseInlineWebhook', 'An inline webhook, by id')
export const RequestablePermissionBase = base(
  'RequestablePermissionBase',
  'A requestable permission, by id',
)
