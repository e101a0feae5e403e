/** Comments on a task, and its reassignment. */
import { html } from 'hono/html'
import { MAX_COMMENT, type Task } from '../../contract/models/task.ts'
import { icon } from '../frame/icons.ts'
import { type Markup, proofField } from '../frame/layout.ts'
import type { PageLocale } from '../frame/locale.ts'
import { nameOf, parseMoment } from '../frame/words.ts'

/** A refused form of the task: the input, and the problem. */
export type Refused = { form: 'comment' | 'reassign'; text: string; problem: Markup | string }

type About = { t: PageLocale; proof: string; task: Task; refused: Refused | null }

const problemOf = (refused: Refused | null, form: Refused['form']) =>
  refused?.form === form ? refused : null

const told = (id: string, refused: Refused | null): Markup | string =>
  refused
    ? html`<p class="error" id="${id}-problem" role="alert">${icon('alert')}${refused.problem}</p>`
    : ''

export const commentsOn = (
  { w, moment }: PageLocale,
  { comments }: Task,
  now: Date,
): Markup | string =>
  !comments || comments.length === 0
    ? ''
    : html`<details class="more" open><summary>${w.comments(comments.length)}</summary>
${comments.map(
  ({ body, created_by, created_at }) =>
    html`<p class="small wrap"><strong>${created_by ? nameOf(created_by) : w.someone}</strong> <span class="soft">${moment(parseMoment(created_at), now)}</span><br>${body}</p>`,
)}</details>`

export function commentForm({ t, proof, task, refused: any }: About): Markup {
  const { w } = t
  const refused = problemOf(any, 'comment')
  return html`<details class="more"${refused ? html` open` : ''}><summary>${w.write_comment}</summary>
<form class="stack" method="post" action="/inbox/${task.id}/comment">
${proofField(proof)}
<div class="field"><label for="comment">${w.comment}</label><p class="help" id="comment-help">${w.comment_help}</p>
<textarea id="comment" name="comment" rows="2" required maxlength="${MAX_COMMENT}" aria-invalid="${refused === null ? 'false' : 'true'}" aria-describedby="comment-help${refused ? ' comment-problem' : ''}"${refused ? ' autofocus' : ''}>
${refused?.text ?? ''}</textarea>${told('comment', refused)}</div>
<div><button class="btn">${w.write_comment}</button></div>
</form></details>`
}

/** Renders the form to reassign a task. Only decisions can be reassigned, and not by a delegate. */
export function reassignForm({
  t,
  proof,
  task,
  refused: any,
  canReassign,
}: About & { canReassign: boolean }): Markup | string {
  const { w } = t
  const isOpen =
    canReassign && (task.actions ?? []).some(({ action_type }) => action_type === 'approve')
  const refused = problemOf(any, 'reassign')
  if (!isOpen) return ''
  return html`<details class="more"${refused ? html` open` : ''}><summary>${w.give_to_other}</summary>
<form class="stack" method="post" action="/inbox/${task.id}/reassign">
${proofField(proof)}
<div class="field"><label for="person">${w.other_person}</label><p class="help" id="person-help">${w.other_person_help}</p>
<input id="person" name="person" required maxlength="320" autocomplete="off" value="${refused?.text ?? ''}" aria-invalid="${refused === null ? 'false' : 'true'}" aria-describedby="person-help${refused ? ' person-problem' : ''}"${refused ? ' autofocus' : ''}>${told('person', refused)}</div>
<div><button class="btn">${w.give_task}</button></div>
</form></details>`
}
