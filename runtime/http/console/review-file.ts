/** Attaches a file to one line of a review, for its reviewers and the people who revoke the access. */
import { html } from 'hono/html'
import { MAX_FILE_BYTES } from '../../contract/models/review-upload.ts'
import { keptText } from '../../core/kernel/kept-text.ts'
import { fileSubject, uploadEvidence } from '../../core/reviews/uploads.ts'
import { PageError } from '../frame/error-page.ts'
import type { Form } from '../frame/form.ts'
import { layout, proofField } from '../frame/layout.ts'
import { note } from '../pages/parts.ts'
import { refusal, type Status } from './change.ts'
import type { Files } from './multipart.ts'
import { brief } from './parts.ts'
import { idOf } from './reviews.ts'
import { bytesOf } from './slots.ts'
import type { ConsoleVisit } from './visit.ts'

/**
 * Maximum number of bytes read of a form. It exceeds the limit of a file, so that a file above the limit is
 * reported as such.
 */
export const MAX_READ_BYTES = 8 * MAX_FILE_BYTES

const itemOf = ({ c }: ConsoleVisit): string => c.req.param('item_id') ?? ''

export const showFileForm = (visit: ConsoleVisit): Promise<Response> => show(visit, null, 200)

async function show(
  visit: ConsoleVisit,
  problem: string | null,
  status: Status,
): Promise<Response> {
  const { c, db, principal, t } = visit
  const { w } = t
  const review = idOf(visit)
  const item = await fileSubject(db, principal, review, itemOf(visit))
  const who = item.userName || item.userEmail || item.account
  const what = item.label ?? item.externalId ?? w.account_itself
  const lines = `/inbox/reviews/${review}`
  return c.html(
    layout({
      ...{ t, title: w.attach_file, visitor: await visit.visitor() },
      area: 'inbox',
      content: html`<div class="page">
<div class="head"><div><ol class="crumbs"><li><a href="/inbox">${w.inbox}</a></li><li><a href="${lines}">${w.one_review}</a></li></ol><h1>${w.attach_file}</h1><p class="wrap">${brief(who, 120)} · ${brief(what, 200)}</p></div></div>
${visit.flash() ?? ''}
${problem === null ? '' : html`<div id="not-attached">${note('bad', 'alert', w.file_not_attached, problem, 'alert')}</div>`}
<form class="stack" method="post" action="${lines}/lines/${item.id}/file" enctype="multipart/form-data">
${proofField(visit.proof)}
<div class="field"><label for="file">${w.file_to_attach}</label><p class="help" id="file-help">${w.attach_help(bytesOf(MAX_FILE_BYTES, t))}</p><input id="file" name="file" type="file" required aria-describedby="file-help${problem === null ? '' : ' not-attached'}"${problem === null ? '' : html` aria-invalid="true"`}></div>
<div class="row"><button class="btn main">${w.attach_file}</button><a class="btn plain" href="${lines}">${w.back_to_lines}</a></div>
</form>
</div>`,
    }),
    status,
  )
}

/** Stores the uploaded file. */
export async function takeFile(visit: ConsoleVisit, _: Form, files: Files): Promise<Response> {
  const { c, db, principal, t } = visit
  const file = files.get('file')
  try {
    if (!file) throw new PageError('invalid', t.w.no_file_chosen)
    if (file.size > MAX_FILE_BYTES)
      throw new PageError(
        'invalid',
        t.w.file_too_large(bytesOf(file.size, t), bytesOf(MAX_FILE_BYTES, t)),
      )
    await uploadEvidence(db, principal, idOf(visit), {
      ...{ item_ids: [itemOf(visit)], arda_id: undefined, name: nameOf(file) },
      media_type: /^[\w.+-]+\/[\w.+-]+$/.test(file.type) ? file.type : 'application/octet-stream',
      content: Buffer.from(await file.arrayBuffer()).toString('base64'),
    })
  } catch (error) {
    const { problem, status } = refusal(t, error)
    return show(visit, String(problem), status)
  }
  return visit.done('file-attached', c.req.path)
}

const MAX_NAME = 200

/** Returns the file name without folders, which some browsers send, shortened to the stored length. */
const nameOf = ({ name }: File): string =>
  keptText((name.split(/[\\/]/).at(-1) ?? '').trim().slice(-MAX_NAME), MAX_NAME) || 'file'
