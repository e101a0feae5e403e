/**
 * Credentials with which new versions of a connector are tested. They are entered in a form and never shown.
 */
import { html } from 'hono/html'
import * as v from 'valibot'
import type { PageWords } from '../../words/page-words.ts'
import { PageError } from '../frame/error-page.ts'
import type { Form } from '../frame/form.ts'
import { type Markup, proofField } from '../frame/layout.ts'
import { note } from '../pages/parts.ts'
import { refusal, type Status } from './change.ts'
import { pathOf } from './connector.ts'
import { answerPage, card, go } from './parts.ts'
import type { ConsoleVisit } from './visit.ts'

/** Longest text of the form, in characters. */
const MAX_TEXT_LENGTH = 20_000

const EXAMPLE = '{"auth": {"token": {"token": "…"}}, "settings": {"base_url": "https://…"}}'

const Member = v.record(v.string(), v.unknown())
const Envelope = v.strictObject({
  auth: v.optional(Member),
  credentials: v.optional(v.array(Member)),
  settings: v.optional(Member),
})

/**
 * Parses the credentials.
 *
 * @throws CoreError `invalid`; it repeats none of the text, which may contain a secret
 */
function envelopeIn(text: string, w: PageWords): v.InferOutput<typeof Envelope> {
  let value: unknown
  try {
    value = JSON.parse(text.slice(0, MAX_TEXT_LENGTH))
  } catch {
    throw new PageError('invalid', w.probe_no_json)
  }
  const parsed = v.safeParse(Envelope, value)
  if (!parsed.success || (!parsed.output.auth && !parsed.output.credentials))
    throw new PageError('invalid', w.probe_form)
  return parsed.output
}

const idOf = ({ c }: ConsoleVisit): string => c.req.param('connector_id') ?? ''

export const showProbe = (visit: ConsoleVisit): Promise<Response> => show(visit, null, 200)

async function show(
  visit: ConsoleVisit,
  problem: Markup | null,
  status: Status,
): Promise<Response> {
  const { t } = visit
  const { w } = t
  const { id, probe } = await visit.ask('show_connector', { params: { connector_id: idOf(visit) } })
  const form = html`<form class="in stack" method="post" action="${pathOf(id)}/probe">
${proofField(visit.proof)}
${probe ? html`<p>${w.probe_replaces}</p>` : ''}
<div class="field"><label for="credentials">${w.probe_label}</label><p class="help" id="credentials-help">${w.probe_help}<br><code class="wrap">${EXAMPLE}</code></p><textarea id="credentials" name="credentials" class="mono" rows="8" maxlength="${MAX_TEXT_LENGTH}" required spellcheck="false" autocomplete="off" aria-describedby="credentials-help"></textarea></div>
<div class="row"><button class="btn main">${w.probe_keep}</button>${go(pathOf(id), w.probe_cancel, 'plain')}</div>
</form>`
  return answerPage(visit, {
    place: 'connectors',
    ...{ title: w.probe_title(id), lead: w.probe_lead },
    crumbs: [{ path: pathOf(id), words: id }],
    content: html`${problem === null ? '' : note('bad', 'alert', w.probe_not_kept, problem, 'alert')}
${card({ id: 'probe', title: w.probe_label }, form)}`,
    status,
  })
}

/** Stores the credentials. Invalid input is not shown again. */
export async function takeProbe(visit: ConsoleVisit, form: Form): Promise<Response> {
  const params = { connector_id: idOf(visit) }
  try {
    const body = envelopeIn(form.get('credentials') ?? '', visit.t.w)
    await visit.ask('set_probe', { params, body })
  } catch (error) {
    const { problem, status } = refusal(visit.t, error)
    return show(visit, problem, status)
  }
  return visit.done('probe-kept', pathOf(params.connector_id))
}
