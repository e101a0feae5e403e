/** The form that a token is made with: its fields, their limits, and what is said when one does not fit. */
import * as v from 'valibot'
import { badRequest } from '../../contract/errors/problem.ts'
import { isId } from '../../core/kernel/by-id.ts'
import type { TokenWish } from '../../core/sign-in/own-tokens.ts'
import type { PageWords } from '../../words/page-words.ts'
import type { Form } from '../frame/form.ts'

/** In UTF-16 units, as browsers count. */
export const MAX_TOKEN_NAME = 100
export const MAX_TOKEN_DESCRIPTION = 1000

/** Day (YYYY-MM-DD) -> its last moment in UTC; null where there is no such day. */
function endOf(day: string): Date | null {
  const end = new Date(`${day}T23:59:59.999Z`)
  // 31 February would become one of March.
  return /^\d{4}-\d\d-\d\d$/.test(day) && end.toJSON()?.startsWith(day) ? end : null
}

const earlier = (one: Date | null, other: Date | null): Date | null =>
  one !== null && other !== null && other < one ? other : one

const tokenFields = ({ token_problems: say }: PageWords) =>
  v.object({
    name: v.pipe(
      v.string(),
      v.trim(),
      v.nonEmpty(say.no_name),
      v.maxLength(MAX_TOKEN_NAME, say.long_name(MAX_TOKEN_NAME)),
      v.regex(/^[^\p{Cc}]*$/u, say.name_lines),
    ),
    description: v.pipe(
      v.string(),
      // Browsers send a line's end as two characters and count it as one.
      v.transform((text) => text.replaceAll('\r\n', '\n')),
      v.trim(),
      v.maxLength(MAX_TOKEN_DESCRIPTION, say.long_description(MAX_TOKEN_DESCRIPTION)),
      v.regex(/^(?:[^\p{Cc}]|[\n\t])*$/u, say.description_signs),
    ),
    expires: v.pipe(
      v.string(),
      v.trim(),
      v.check((day) => day === '' || endOf(day) !== null, say.no_day),
      v.check(
        (day) => (endOf(day)?.getTime() ?? Number.POSITIVE_INFINITY) > Date.now(),
        say.past_day,
      ),
    ),
  })

export type Values = Record<keyof v.InferInput<ReturnType<typeof tokenFields>>, string> & {
  readOnly: boolean
}
export type Problems = Partial<Record<keyof Values, string>>

export const NOTHING: Values = { name: '', description: '', expires: '', readOnly: false }

type Judged = { ok: true; wish: TokenWish } | { ok: false; values: Values; problems: Problems }

/**
 * @param notAfter When the token ends that the session was begun with: what it makes ends with it, or it
 *   could outlive its own end.
 * @throws CoreError bad_request for a form that is not the page's
 */
export function judgeTokenForm(form: Form, notAfter: Date | null, w: PageWords): Judged {
  const formId = form.get('form_id') ?? ''
  if (!isId(formId)) throw badRequest('The form has lost its id; open the page again')
  const readOnly = form.get('read_only') === 'yes'
  const given = {
    name: form.get('name') ?? '',
    description: form.get('description') ?? '',
    expires: form.get('expires') ?? '',
  }
  const fields = tokenFields(w)
  const parsed = v.safeParse(fields, given)
  if (!parsed.success) {
    const nested = v.flatten<typeof fields>(parsed.issues).nested ?? {}
    const problems = Object.fromEntries(
      Object.entries(nested).map(([name, texts]) => [name, texts?.[0] ?? '']),
    )
    return { ok: false, values: { ...given, readOnly }, problems }
  }
  const { expires, ...texts } = parsed.output
  const day = notAfter?.toISOString().slice(0, 10) ?? null
  if (day !== null && (expires === '' || expires > day)) {
    const problems = { expires: w.token_problems.late_day(day) }
    return { ok: false, values: { ...given, readOnly }, problems }
  }
  return {
    ok: true,
    wish: { ...texts, readOnly, expiresAt: earlier(endOf(expires), notAfter), formId },
  }
}
