/** Reads the body of a request of `ctx.ldap` or `ctx.sql`. */
import * as v from 'valibot'
import { describeIssue } from '../../contract/connector/payload.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'
import { INPUTS } from '../../contract/limits/inputs.ts'
import { marksIn } from '../../contract/limits/reply-limits.ts'

/** Bridge, operation and schemas of a request. */
type Reading<S> = {
  bridge: 'ldap' | 'sql'
  operation: (keyof S & string) | null
  schemas: S
}

/** Request of each operation. */
type RequestBy<S extends Record<string, v.GenericSchema>> = {
  [K in keyof S]: { operation: K } & v.InferOutput<S[K]>
}[keyof S]

/**
 * Parses the body by the schema of its operation.
 *
 * @throws context_misused if it is not a request, egress_url if it does not come from the bridge, egress_body
 *   if it is too large; the messages contain no values
 */
export function readBody<S extends Record<string, v.GenericSchema>>(
  { bridge, operation, schemas }: Reading<S>,
  body: Uint8Array | null,
): RequestBy<S> {
  const schema = operation === null ? undefined : schemas[operation]
  if (schema === undefined || body === null)
    throw new RuntimeError('egress_url', `${bridge}: is for ctx.${bridge} alone, not for ctx.fetch`)
  const { maxBytes, maxMarks } = INPUTS[`${bridge}_request`]
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  if (bytes.length > maxBytes || marksIn(bytes, maxMarks) > maxMarks)
    throw new RuntimeError(
      'egress_body',
      `A request of ctx.${bridge} may have ${maxBytes} bytes and ${maxMarks / 2} values`,
    )
  let value: unknown
  try {
    value = JSON.parse(bytes.toString('utf8'))
  } catch {
    throw new RuntimeError('context_misused', `A request of ctx.${bridge} is not JSON`)
  }
  const read = v.safeParse(schema, value, { abortEarly: true })
  // The type of `Object` is any. The output has the type of the operation's schema.
  if (read.success) return { operation, ...Object(read.output) }
  throw new RuntimeError(
    'context_misused',
    `ctx.${bridge}.${operation}: ${describeIssue(read.issues[0], '', () => true)}`,
  )
}
