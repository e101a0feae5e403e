/** Upload of a connector package in the browser. The package is checked, and kept on request. */
import { html } from 'hono/html'
import * as v from 'valibot'
import { MAX_PACKED_BYTES } from '../../connectors/packages/format.ts'
import { PackageReport } from '../../contract/endpoints/operator.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'
import { PageError } from '../frame/error-page.ts'
import type { Form } from '../frame/form.ts'
import { type Markup, proofField } from '../frame/layout.ts'
import type { PageLocale } from '../frame/locale.ts'
import { MAX_SIGNATURE_BYTES, uploadedOf } from '../operator/package-upload.ts'
import { note } from '../pages/parts.ts'
import { refusal, type Status } from './change.ts'
import { pathOf } from './connector.ts'
import type { Files } from './multipart.ts'
import { answerPage, card, check, field } from './parts.ts'
import { bytesOf } from './slots.ts'
import { reportCards, trustBadge } from './versions.ts'
import type { ConsoleVisit } from './visit.ts'

const PATH = '/console/install'

/** State of the form: the input, the report about the package, and the reason for a refusal. */
export type PackageShown = {
  typed?: Form
  problem?: Markup | string
  report?: PackageReport | null
  status?: Status
}

export const showInstall = (visit: ConsoleVisit): Promise<Response> => show(visit, {})

async function show(
  visit: ConsoleVisit,
  { typed = new Map(), problem, report = null, status = 200 }: PackageShown,
): Promise<Response> {
  const { t } = visit
  const w = t.console.install
  const form = html`<form class="in stack" method="post" action="${PATH}" enctype="multipart/form-data">
${proofField(visit.proof)}
${fileField(t, 'package', w.file, w.fileHelp(bytesOf(MAX_PACKED_BYTES, t)), '.tgz,application/gzip', true)}
${fileField(t, 'signature', w.signature, w.signatureHelp, '.sig', false)}
${check({ name: 'change_publisher', value: 'yes', words: w.changePublisher, help: w.changePublisherHelp, isOn: typed.get('change_publisher') === 'yes' })}
${field({ t, id: 'reason', label: w.why, value: typed.get('reason') ?? '' })}
<div class="row"><button class="btn main" name="keep" value="yes">${w.keep}</button><button class="btn" name="keep" value="no">${w.check}</button></div>
</form>`
  const said =
    report === null
      ? ''
      : html`${problem === undefined ? note('good', 'check', w.checked(report.id, report.version), w.checkedText, 'status') : ''}
<div class="row">${trustBadge(t, report)}<span>${report.replaces === null ? w.isNew : w.replaces(report.replaces)}</span></div>
${reportCards(t, report)}`
  return answerPage(visit, {
    place: 'connectors',
    title: w.title,
    lead: w.lead,
    content: html`${problem === undefined ? '' : note('bad', 'alert', w.notDone, problem, 'alert')}
<div class="cols"><div class="stack wide">${card({ id: 'upload', title: w.upload }, form)}${said}</div>
<div class="stack wide">${card({ id: 'how', title: w.how }, html`<ol class="in stack tight">${w.steps.map((one) => html`<li>${one}</li>`)}</ol>`)}</div></div>`,
    status,
  })
}

const fileField = (
  t: PageLocale,
  id: string,
  label: string,
  help: string,
  accept: string,
  required: boolean,
): Markup =>
  html`<div class="field"><label for="${id}">${label}${required ? '' : html` <span class="soft">${t.w.optional}</span>`}</label><p class="help" id="${id}-help">${help}</p><input id="${id}" name="${id}" type="file" accept="${accept}" aria-describedby="${id}-help"${required ? html` required` : ''}></div>`

/** Checks the uploaded package, and keeps it unless only a check was requested. */
export async function takePackage(
  visit: ConsoleVisit,
  form: Form,
  files: Files,
): Promise<Response> {
  const keeps = form.get('keep') === 'yes'
  const query = {
    reason: form.get('reason')?.trim() ?? '',
    change_publisher: String(form.get('change_publisher') === 'yes'),
    dry_run: String(!keeps),
  }
  try {
    const uploaded = await uploadedFrom(visit.t, files)
    const { package: report } = await visit.ask('upload_package', { query, uploaded })
    if (!keeps) return show(visit, { typed: form, report })
    return visit.done('uploaded', `${pathOf(report.id)}/versions/${report.digest}`)
  } catch (error) {
    return show(visit, { typed: form, ...refusal(visit.t, error), report: reportIn(error) })
  }
}

/**
 * Reads the uploaded files.
 *
 * @throws CoreError `invalid`; RuntimeError `input_invalid` if the file is no package
 */
async function uploadedFrom(t: PageLocale, files: Files) {
  const [file, signature] = [files.get('package'), files.get('signature')]
  if (!file) throw new PageError('invalid', t.console.install.noFile)
  if (signature && signature.size > MAX_SIGNATURE_BYTES)
    throw new PageError('invalid', t.console.install.noSignature)
  const packed = Buffer.from(await file.arrayBuffer())
  return uploadedOf(packed, signature ? await signature.text() : null)
}

/** Returns the report about a refused package, or null. */
export function reportIn(error: unknown): PackageReport | null {
  const parsed = v.safeParse(
    PackageReport,
    error instanceof RuntimeError ? error.details.raw?.['package'] : null,
  )
  return parsed.success ? parsed.output : null
}
