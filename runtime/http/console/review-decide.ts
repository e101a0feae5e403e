/** The form for a reviewer's lines: the selected lines, or all open lines that match a filter. */
import { badRequest } from '../../contract/errors/problem.ts'
import { DECISIONS, MAX_LINE_REASON } from '../../contract/models/review-item.ts'
import { keptText } from '../../core/kernel/kept-text.ts'
import { decideAndCount } from '../../core/reviews/decide.ts'
import { listItems } from '../../core/reviews/items.ts'
import { DECIDED } from '../../core/reviews/machine/states.ts'
import { REFUSAL_STATUS } from '../edge/statuses.ts'
import { refusalOf } from '../frame/error-page.ts'
import type { Form } from '../frame/form.ts'
import { keepOutcome, type Outcome, outcomeWords } from './review-notice.ts'
import {
  type Asked,
  addressOf,
  askedOf,
  filterOf,
  idOf,
  LINES_SIZE,
  showOwnReview,
} from './reviews.ts'
import type { ConsoleVisit } from './visit.ts'

type Choice = {
  decision: Outcome['decision']
  reason: string
  asked: Asked
  /** Ids of the selected lines. */
  ticked: string[]
  all: boolean
}

const reasonIn = (form: Form): string => keptText(form.get('reason')?.trim() ?? '', MAX_LINE_REASON)

function choiceOf(visit: ConsoleVisit, form: Form): Choice {
  const decision = DECISIONS.find((one) => one === form.get('decision'))
  if (!decision) throw badRequest('The form names no action')
  return {
    decision,
    reason: reasonIn(form),
    asked: askedOf(visit, form),
    ticked: [...form].filter(([name]) => /^item\.\d+$/.test(name)).map(([, id]) => id),
    all: form.get('all') === 'yes',
  }
}

export async function decideLines(visit: ConsoleVisit, form: Form): Promise<Response> {
  const { t, c } = visit
  const { w } = t
  if (form.get('decision') === CHOOSE_PAGE) return choosePage(visit, form)
  const choice = choiceOf(visit, form)
  const { asked, ticked, all, reason } = choice
  const typed = { ticked, all, reason, form }
  if (ticked.length === 0 && !all)
    return showOwnReview(visit, { ...typed, problem: w.choose_lines_first }, 400)
  try {
    const outcome = await decideBy(visit, choice)
    if (outcome.decided === 0)
      return showOwnReview(visit, { ...typed, problem: outcomeWords(t, outcome) }, 409)
    keepOutcome(visit, outcome)
  } catch (error) {
    const { problem, status } = refusalOf(t, error, 'bad_request', 'conflict')
    const ofReason = status === REFUSAL_STATUS.bad_request && reason === ''
    const said = { problem: ofReason ? w.say_why_lines : problem, ofReason }
    return showOwnReview(visit, { ...typed, ...said }, status)
  }
  return c.redirect(addressOf(`/inbox/reviews/${idOf(visit)}`, asked, 1), 303)
}

/** Value of the button that selects all lines of the page. */
const CHOOSE_PAGE = 'PAGE'

/** Shows the same page with all its lines selected, and the input. */
async function choosePage(visit: ConsoleVisit, form: Form): Promise<Response> {
  const { db, principal } = visit
  const asked = askedOf(visit, form)
  const { items } = await listItems(db, principal, idOf(visit), {
    ...{ mine: true, page: asked.page, size: LINES_SIZE },
    ...filterOf(asked),
  })
  const reason = reasonIn(form)
  return showOwnReview(visit, { ticked: items.map(({ id }) => id), all: false, reason, form })
}

/**
 * Decides the lines. A selected line is decided even if it was decided before; a filter covers only open
 * lines.
 */
async function decideBy(visit: ConsoleVisit, choice: Choice): Promise<Outcome> {
  const { db, principal } = visit
  const { decision, reason, asked, ticked, all } = choice
  const id = idOf(visit)
  const { state, hint, search } = filterOf(asked)
  const shown = all
    ? await listItems(db, principal, id, { mine: true, page: 1, size: 1, state, hint, search })
    : { total: 0 }
  const filter = {
    ...{ state, hint, search: search ?? undefined },
    ...{
      arda_id: undefined,
      user_id: undefined,
      entitlement_id: undefined,
      scope_filters: undefined,
    },
  }
  const { decided, changed, results } = await decideAndCount(db, principal, id, {
    ...{ decision, reason, change: !all },
    item_ids: all ? undefined : ticked,
    filter: all ? filter : undefined,
  })
  const stay = results.filter(({ error }) => error !== null)
  const same = stay.filter((one) => one.state === DECIDED[decision]).length
  const before = all ? Math.max(0, shown.total - decided) : 0
  return { decision, decided, changed, before, same, ended: stay.length - same }
}
