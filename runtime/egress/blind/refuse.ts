/** Messages about a secret in a wrong place: the position, and the alternative. */
import { RuntimeError } from '../../contract/errors/errors.ts'

const BY_BASIC = 'for Basic authentication send ctx.basic() as the Authorization header'
const PLACES = 'a secret is replaced in header values, the query, urlencoded forms and JSON strings'

/** Positions where a secret is not replaced: description, and advice. */
const POSITIONS = {
  host: ['in the host of the address', `${PLACES}: send it in one of these`],
  path: ['in the path of the address', `${PLACES}: send it in one of these`],
  query_name: ['in the name of a query parameter', 'write it as the value: ?name=secret'],
  header_name: ['in the name of a header', 'write it as the value of a header'],
  json_name: ['in the name of a JSON member', 'write it as the value of a member'],
  form_name: ['in the name of a form field', 'write it as the value of a field'],
  json_broken: ['in a body that says it is JSON and is not', 'send JSON.stringify(value)'],
  body: [
    'in a body that is neither JSON nor an urlencoded form',
    `${PLACES}: send JSON with the content-type application/json, or URLSearchParams; or ask the operator for the field by "clear_secrets"`,
  ],
  base64: [
    'inside base64',
    `${BY_BASIC}; to sign with it use ctx.sign; it is replaced in plain text only`,
  ],
  encoded: ['in an encoded form', 'write it as it is: encoding is done when it is replaced'],
  piece: ['in pieces', 'write it whole: it is replaced when the request is sent'],
  beside: [
    'with a letter or digit directly beside it',
    'put a space or another separator between: only a secret that stands alone can be told apart in replies',
  ],
  foreign: [
    'that belongs to another call',
    'secrets differ in every call: read ctx.auth, ctx.credentials or ctx.settings in the handler and keep nothing of them in module variables',
  ],
  signature: [
    'of a signer that signs the whole request, but not as the whole value of the Authorization header',
    'write { headers: { authorization: ctx.sign.oauth1() } }',
  ],
} as const

export type Misplaced = keyof typeof POSITIONS

/** Returns the error for a secret in a place where it is not replaced. */
export function misplaced(position: Misplaced, where = ''): RuntimeError {
  const [place, advice] = POSITIONS[position]
  const details = where === '' ? '' : ` (${where.slice(0, 80)})`
  return refuseSecret(
    `The request holds a secret ${place}${details}, where it would leave as a placeholder: ${advice}`,
  )
}

/** Returns the error for a secret that cannot be used in this way. */
export const refuseSecret = (message: string): RuntimeError =>
  new RuntimeError('egress_secret', message)
