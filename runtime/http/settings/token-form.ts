/** The form that creates a token: its fields, their limits, and the messages for invalid input. */
import * as v from 'valibot'
import { badRequest } from '../../contract/errors/problem.ts'
import { isId } from '../../core/kernel/by-id.ts'
import type { TokenWish } from '../../core/sign-in/own-tokens.ts'
import type { PageWords } from '../../words/page-words.ts'
import type { Form } from '../frame/form.ts'
import type { PageLocale } from '../frame/locale.ts'

/** Longest texts in UTF-16 units, as browsers count. */
export const MAX_TOKEN_NAME = 100
export const MAX_TOKEN_DESCRIPTION = 1000

/** Converts a day (YYYY-MM-DD) to its last moment in UTC; null if the day does not exist. */
function endOf(day: string): Date | null {
  const end = new Date(`${day}T23:59:59.999Z`)
  // Otherwise 31 February would become a day in March.
  return /^\d{4}-\d\d-\d\d$/.test(day) && end.toJSON()?.startsWith(day) ? end : null
}

const earlier = (one: Date | null, other: Date | null): Date | null =>
  one !== null && other !== null && other < one ? other : one

const tokenFields = ({ token_problems: say }: PageWords, now: Date) =>
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
      // Browsers send a line break as two characters and count it as one.
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
        (day) => (endOf(day)?.getTime() ?? Number.POSITIVE_INFINITY) > now.getTime(),
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
 * Validates the form.
 *
 * @param notAfter End of the token that started the session. A token made in the session ends no later, or
 * the first could outlive its own end.
 * @param now current time by the database's clock, which decides when a token ends
 * @throws CoreError `bad_request` if the page did not send the form
 */
export function judgeTokenForm(
  form: Form,
  notAfter: Date | null,
  { t, now }: { t: PageLocale; now: Date },
): Judged {
  const formId = form.get('form_id') ?? ''
  if (!isId(formId)) throw badRequest('The form has no id; open the page again')
  const readOnly = form.get('read_only') === 'yes'
  const given = {
    name: form.get('name') ?? '',
    description: form.get('description') ?? '',
    expires: form.get('expires') ?? '',
  }
  const fields = tokenFields(t.w, now)
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
    const problems = { expires: t.w.token_problems.late_day(day) }
    return { ok: false, values: { ...given, readOnly }, problems }
  }
  return {
    ok: true,
    wish: { ...texts, readOnly, expiresAt: earlier(endOf(expires), notAfter), formId },
  }
}
