/** What is different between two generations of what is installed. */
import { html } from 'hono/html'
import { note } from '../pages/parts.ts'
import { differenceList, refusal } from './change.ts'
import { answerPage, card } from './parts.ts'
import type { ConsoleVisit } from './visit.ts'

const PATH = '/console/generations/compare'
const GENERATIONS = '/console/generations'

export async function showCompare(visit: ConsoleVisit): Promise<Response> {
  const { c, t } = visit
  const { w } = t
  const [from = '', to = ''] = [c.req.query('from'), c.req.query('to')]
  const [told, status] = await compared(visit, from, to)
  const number = (id: string, words: string, value: string) =>
    html`<div><label for="${id}">${words}</label><input id="${id}" name="${id}" type="number" min="0" value="${value}" required></div>`
  return answerPage(visit, {
    place: 'connectors',
    ...{ title: w.compare, lead: w.compare_lead },
    crumbs: [{ path: GENERATIONS, words: w.installed_history }],
    content: html`<form class="filter" action="${PATH}">${number('from', w.compare_from, from)}${number('to', w.compare_to, to)}<button class="btn">${w.compare_do}</button></form>
${told}`,
    status,
  })
}

async function compared(visit: ConsoleVisit, from: string, to: string) {
  const { w } = visit.t
  if (from === '' && to === '') return ['', 200] as const
  try {
    const told = await visit.ask('compare_generations', {
      params: { generation: to },
      query: { since: from },
    })
    const title = w.compare_title(told.from, told.to)
    return [
      card({ id: 'difference', title }, differenceList(told.difference, visit.t)),
      200,
    ] as const
  } catch (error) {
    const { words, status } = refusal(error)
    return [note('bad', 'alert', w.compare_not, words, 'alert'), status] as const
  }
}
