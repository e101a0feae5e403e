/** Upkeep of a host: the doctor's report, mail with a test, and the rotation of its secret. */
import { html } from 'hono/html'
import type { DoctorFinding } from '../../contract/endpoints/doctor.ts'
import type { MailStatus } from '../../contract/endpoints/mail.ts'
import type { Rotation } from '../../contract/endpoints/rotation.ts'
import { entriesOf } from '../../contract/schema/keys.ts'
import type { Form } from '../frame/form.ts'
import { type Markup, proofField } from '../frame/layout.ts'
import { note, whole } from '../pages/parts.ts'
import { type BadgeLook, badge } from '../pages/states.ts'
import { refusal, type Status } from './change.ts'
import { answerPage, brief, card, columnsOf, facts, listed, table, thousands } from './parts.ts'
import type { ConsoleVisit } from './visit.ts'

export const UPKEEP_PATH = '/console/upkeep'

/** DOCTOR_LOOKS: state of a finding -> badge, most urgent first. */
const DOCTOR_LOOKS = {
  act: ['bad', 'alert'],
  look: ['wait', 'info'],
  good: ['good', 'check'],
} as const satisfies Record<DoctorFinding['state'], BadgeLook>
const STATES = entriesOf(DOCTOR_LOOKS).map(([name]) => name)

/** A report of the doctor, and its time. */
type Examined = { findings: readonly DoctorFinding[]; at: Date }

/** Latest report of each host of this process. An examination takes most of a second of processor time. */
const latest = new WeakMap<ConsoleVisit['deps'], Examined>()

type Shown = { told?: Markup | string; to?: string; status?: Status }

export const showUpkeep = (visit: ConsoleVisit): Promise<Response> => show(visit, {})

async function show(visit: ConsoleVisit, { told = '', to = '', status = 200 }: Shown) {
  const { t } = visit
  const { w } = t
  const mail = await visit.ask('mail_status')
  const rotation = await visit.ask('get_rotation')
  const content = html`${told}
<div class="cols"><div class="stack wide">${report(visit, latest.get(visit.deps) ?? null, visit.proof)}</div><div class="stack wide">
${mailCard(visit, mail, { proof: visit.proof, to })}
${rotationCard(visit, rotation, visit.proof)}
</div></div>`
  return answerPage(visit, {
    place: 'background',
    ...{ title: w.upkeep, lead: w.upkeep_lead, content },
    status,
  })
}

function report({ t, now }: ConsoleVisit, examined: Examined | null, proof: string): Markup {
  const { w } = t
  const look = (one: DoctorFinding['state']) => badge(DOCTOR_LOOKS[one], w.doctor_states[one])
  const rows = (examined?.findings ?? [])
    .toSorted((a, b) => STATES.indexOf(a.state) - STATES.indexOf(b.state))
    .map(({ check, state, what, advice }) => [
      html`<code class="nowrap">${check}</code><span class="sub narrow-only">${look(state)}</span>`,
      look(state),
      html`<span lang="en">${brief(what, 500)}</span>${advice === null ? '' : html`<span class="sub" lang="en">${brief(advice, 500)}</span>`}`,
    ])
  const run = html`<form method="post" action="${UPKEEP_PATH}/examine">${proofField(proof)}<button class="btn less">${w.doctor_run}</button></form>`
  const about = { id: 'doctor', title: w.doctor, end: run }
  return listed(
    examined
      ? { ...about, count: examined.findings.length, note: t.moment(examined.at, now) }
      : about,
    columnsOf(w.doctor_columns, [undefined, 'c3']),
    rows,
    { title: w.doctor_none, text: w.doctor_none_text },
    t,
  )
}

function mailCard(
  { t, now }: ConsoleVisit,
  { server, from, waiting, failing, problem, refused }: MailStatus,
  { proof, to }: { proof: string; to: string },
): Markup {
  const { w } = t
  const rows = refused.map((one) => [
    whole(brief(one.email, 100)),
    t.moment(new Date(one.at), now),
    html`<code>${one.kind}</code><span class="sub" lang="en">${brief(one.problem, 300)}</span>`,
  ])
  const about =
    server === null
      ? html`<p class="in">${w.mail_no_server}</p>`
      : html`${facts([
          [w.mail_server, html`<code>${server}</code>`],
          [w.mail_from, from ?? '–'],
          [w.mail_waiting, thousands(waiting, t)],
          [
            w.mail_failing,
            html`${thousands(failing, t)}${problem === null ? '' : html`<span class="sub" lang="en">${brief(problem, 300)}</span>`}`,
          ],
        ])}
<form class="in filter" method="post" action="${UPKEEP_PATH}/mail">${proofField(proof)}
<div class="grow"><label for="email">${w.mail_to}</label><input id="email" name="email" type="email" value="${to}" maxlength="254" required autocomplete="email"></div>
<button class="btn">${w.mail_send}</button></form>`
  return html`${card({ id: 'mail', title: w.mail_card }, about)}
${rows.length === 0 ? '' : card({ id: 'refused', title: w.mail_refused, count: rows.length }, table(w.mail_refused, columnsOf(w.mail_refused_columns), rows, t))}`
}

function rotationCard(
  { t, now }: ConsoleVisit,
  { since, needed, safe_to_drop: isSafe, tokens }: Rotation,
  proof: string,
): Markup {
  const { w } = t
  const waiting = entriesOf(needed).filter(([, count]) => count > 0)
  return card(
    { id: 'rotation', title: w.rotation },
    html`<p class="in">${isSafe ? w.rotation_done : w.rotation_waits}</p>
${facts([
  [w.rotation_since, t.moment(new Date(since), now)],
  ...waiting.map(([name, count]) => [w.rotation_needs[name] ?? name, thousands(count, t)] as const),
])}
${
  tokens.length === 0
    ? ''
    : html`<details class="more in"><summary>${w.rotation_end}</summary>
<form method="post" action="${UPKEEP_PATH}/end-tokens">${proofField(proof)}
<p class="small">${w.rotation_end_text(needed.api_tokens)}</p>
<button class="btn danger less">${w.rotation_end}</button></form></details>`
}`,
  )
}

/** Examines the host and shows the report at once. A second host at the same address has its own report. */
export async function examineHost(visit: ConsoleVisit): Promise<Response> {
  const { findings } = await visit.ask('examine')
  latest.set(visit.deps, { findings, at: visit.now })
  return show(visit, {})
}

/** Sends one test mail. The page shows the server's answer. */
export async function tryMail(visit: ConsoleVisit, form: Form): Promise<Response> {
  const { w, language } = visit.t
  const email = form.get('email')?.trim() ?? ''
  try {
    const { ok, server, ms, problem } = await visit.ask('test_mail', { body: { email, language } })
    const told = ok
      ? note('good', 'check', w.mail_took(server, Math.round(ms)), '', 'status')
      : note('bad', 'x', w.mail_took_not(server), problem ?? '', 'alert')
    return show(visit, { told, to: email })
  } catch (error) {
    const { problem, status } = refusal(visit.t, error)
    return show(visit, {
      told: note('bad', 'alert', w.mail_not_sent, problem, 'alert'),
      ...{ to: email, status },
    })
  }
}

export async function endWaitingTokens(visit: ConsoleVisit): Promise<Response> {
  await visit.ask('end_waiting_tokens', { body: {} })
  return visit.done('waiting-tokens-ended', UPKEEP_PATH)
}
