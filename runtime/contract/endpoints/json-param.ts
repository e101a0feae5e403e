/** Query parameters that contain a list of objects as JSON. */
import * as v from 'valibot'
import { describeIssue } from '../connector/payload.ts'
import type { AnySchema } from '../schema/shape.ts'
import { type Param, param } from './params.ts'

/** Maximum length of such a parameter, in characters. */
const MAX_TEXT = 8192

const wrong = (msg: string) => ({ ok: false as const, entries: [{ type: 'value_error', msg }] })

/** Returns a parameter that takes a JSON list of up to `most` objects. If absent, the list is empty. */
export function listIn<const S extends AnySchema>(
  schema: S,
  most: number,
): Param<v.InferOutput<S>[]> {
  const list = v.pipe(v.array(schema), v.maxLength(most))
  return param<v.InferOutput<S>[]>(
    (values) => {
      const text = values.at(-1)
      if (text === undefined) return { ok: true, value: [] }
      if (text.length > MAX_TEXT) return wrong(`Value error, longer than ${MAX_TEXT} characters`)
      let given: unknown
      try {
        given = JSON.parse(text)
      } catch {
        return wrong('Value error, Expected a list of objects as JSON')
      }
      const parsed = v.safeParse(list, given, { abortEarly: true })
      return parsed.success
        ? { ok: true, value: parsed.output }
        : wrong(`Value error, ${describeIssue(parsed.issues[0], '', () => true)}`)
    },
    { type: 'string', contentMediaType: 'application/json' },
  )
}
